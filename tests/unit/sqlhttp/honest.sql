-- One statement a line that people and programs send. Every one must be answered.
-- What clients ask before anything else: clickhouse-connect, clickhouse-go, JDBC, ODBC, a pinging load balancer.
SELECT version(), timezone()
SELECT name, value, readonly FROM system.settings LIMIT 10000
SELECT 1 AS check
SELECT displayName(), version(), revision(), timezone()
SELECT timeZone()
SELECT 1
SELECT version()
SELECT currentUser(), currentDatabase(), version()
SELECT currentUser() AS user, timezone() AS timezone, version() AS version, getSetting('readonly') AS readonly FORMAT RowBinaryWithNamesAndTypes
SELECT currentDatabase()
SELECT value FROM system.settings WHERE name = 'readonly'
SELECT name, value FROM system.settings WHERE name IN ('max_execution_time', 'max_memory_usage', 'readonly')
-- What Grafana's plugin asks to fill its editor.
SHOW DATABASES
SHOW TABLES
SHOW TABLES FROM default
SHOW TABLES FROM default LIKE 'verdicts%'
SHOW FULL TABLES FROM default
DESC TABLE default."verdicts"
DESC TABLE "verdicts"
DESCRIBE TABLE "default"."verdicts"
DESCRIBE verdicts
DESCRIBE TABLE (SELECT target, count() AS number FROM verdicts GROUP BY target)
SELECT name, type, table FROM system.columns
SELECT name, type, table FROM system.columns WHERE database IN ('default') AND table = 'verdicts'
SELECT database, name FROM system.tables ORDER BY database, name
SELECT database, table, name, type, comment FROM system.columns WHERE (database, table) IN (('default', 'verdicts'), ('default', 'trials')) ORDER BY database, table, position
SELECT database, table, name, type, comment FROM system.columns WHERE (database = currentDatabase() AND table IN ('verdicts')) ORDER BY database, table, position
SELECT DISTINCT outcome FROM default.verdicts SETTINGS max_execution_time=10
select distinct outcome from verdicts limit 1000
SELECT name FROM system.functions LIMIT 10
SELECT DISTINCT target FROM "default"."verdicts" LIMIT 1000
-- Panels, macros expanded as the plugin expands them.
SELECT toStartOfInterval(toDateTime(decided_at), INTERVAL 60 second) as time, count() as number FROM verdicts WHERE decided_at >= toDateTime(1700000000) AND decided_at <= toDateTime(1700003600) GROUP BY time ORDER BY time ASC
SELECT toStartOfInterval(toDateTime64(decided_at, 3), INTERVAL 60000 millisecond) as time, outcome, count() FROM verdicts WHERE decided_at >= fromUnixTimestamp64Milli(1700000000000) AND decided_at <= fromUnixTimestamp64Milli(1700003600000) GROUP BY time, outcome ORDER BY time
SELECT (intDiv(toUInt32(decided_at), 60) * 60) * 1000 as t, groupArray((outcome, number)) as series FROM (SELECT decided_at, outcome, count() as number FROM verdicts GROUP BY decided_at, outcome) GROUP BY t ORDER BY t
SELECT decided_at AS time, target, outcome FROM verdicts WHERE 1=1 AND (target IN ('lab','other')) ORDER BY decided_at DESC LIMIT 100
SELECT count() FROM verdicts WHERE toDate(decided_at) >= toDate('2026-01-01') AND toDate(decided_at) <= toDate('2026-02-01')
SELECT sum(toString("outcome") IN ('bad', 'BAD')) AS bad, sum(toString("outcome") IN ('good')) AS good, toStartOfHour(decided_at) AS time FROM "default"."verdicts" GROUP BY time ORDER BY time ASC
SELECT target, outcome, count(*) as c FROM verdicts GROUP BY target, outcome WITH TOTALS ORDER BY c DESC LIMIT 10
SELECT toStartOfDay(decided_at) d, countIf(outcome = 'bad') / count() AS share FROM verdicts WHERE scheduled GROUP BY d ORDER BY d WITH FILL FROM toDateTime('2026-01-01 00:00:00', 'UTC') TO toDateTime('2026-01-05 00:00:00', 'UTC') STEP INTERVAL 1 DAY
SELECT d, v FROM (SELECT toDate(decided_at) AS d, count() AS v FROM verdicts GROUP BY d) ORDER BY d WITH FILL STEP 1 INTERPOLATE (v AS v + 1)
SELECT tumbleStart(wndw) AS t, count() FROM (SELECT tumble(toDateTime(decided_at), INTERVAL '1' HOUR) AS wndw FROM verdicts) GROUP BY t
SELECT timeSlots(toDateTime('2026-01-01 00:00:00'), toUInt32(600), 300)
-- What people write.
SELECT * FROM verdicts FINAL WHERE target = {target:String} ORDER BY decided_at DESC LIMIT {n:UInt32}
SELECT * FROM verdicts WHERE has({ids:Array(String)}, id)
SELECT * FROM verdicts WHERE id IN {ids:Array(String)}
SELECT * FROM verdicts WHERE decided_at >= {since:DateTime64(3, 'UTC')}
SELECT {maybe:Nullable(String)} AS x, {day:Date} AS d
SELECT v.target, s.code, count() FROM verdicts AS v INNER JOIN signals AS s ON s.verdict = v.id WHERE s.status = 'fail' GROUP BY 1, 2 ORDER BY 3 DESC
SELECT * FROM verdicts v LEFT JOIN trials t ON t.id = v.trial AND t.target = v.target
SELECT v.id, e.exchange FROM verdicts v, exchange_verdicts e WHERE v.id = e.verdict
SELECT v.* EXCEPT (id) FROM verdicts v SEMI LEFT JOIN findings f ON f.id = v.finding
SELECT v.target FROM verdicts v ASOF JOIN trials t ON t.target = v.target AND t.started_at <= v.decided_at
SELECT * FROM verdicts JOIN trials USING (target, probe) LIMIT 5
SELECT * FROM verdicts CROSS JOIN numbers(2) AS n LIMIT 4
WITH recent AS (SELECT * FROM verdicts WHERE decided_at > now() - INTERVAL 1 DAY) SELECT target, count() FROM recent GROUP BY target
WITH 'lab' AS name SELECT count() FROM verdicts WHERE target = name
WITH (SELECT max(decided_at) FROM verdicts) AS newest SELECT * FROM verdicts WHERE decided_at = newest
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
WITH x AS (SELECT 1 AS n) SELECT n FROM x UNION ALL SELECT n + 1 FROM x
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
WITH (1, 2) AS s SELECT number FROM numbers(4) WHERE number IN s
WITH ids AS (SELECT id FROM verdicts) SELECT count() FROM signals WHERE verdict IN ids
SELECT count() FROM signals WHERE verdict IN (SELECT id FROM verdicts WHERE outcome = 'bad')
SELECT count() FROM signals WHERE verdict NOT IN (SELECT id FROM verdicts) AND code GLOBAL IN (SELECT code FROM signals)
SELECT count() FROM verdicts WHERE EXISTS (SELECT 1 FROM signals WHERE signals.verdict = verdicts.id)
SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3
(SELECT 1 AS x) EXCEPT (SELECT 2)
SELECT 1 INTERSECT SELECT 1
SELECT number FROM numbers(10) WHERE number % 2 = 0 ORDER BY number DESC LIMIT 2, 3
SELECT number FROM numbers_mt(10) LIMIT 3 OFFSET 2
SELECT * FROM generateSeries(1, 10, 2)
SELECT * FROM generate_series(1, 4)
SELECT * FROM values('a UInt8, b String', (1, 'x'), (2, 'y'))
SELECT * FROM view(SELECT 1 AS a)
SELECT number FROM system.numbers LIMIT 3
SELECT * FROM system.one
SELECT target, arrayStringConcat(groupUniqArray(outcome), ',') FROM verdicts GROUP BY target HAVING count() > 0
SELECT arrayMap(x -> x + 1, [1, 2, 3]), arrayFilter((x, y) -> x > y, [1, 2], [0, 3]), arrayJoin([1, 2])
SELECT span FROM signals ARRAY JOIN span_starts AS span
SELECT s, e FROM signals LEFT ARRAY JOIN span_starts AS s, span_ends AS e
SELECT quantile(0.99)(total_seconds), quantiles(0.5, 0.9, 0.99)(total_seconds), quantileTDigest(0.5)(total_seconds) FROM exchanges
SELECT uniq(trial), uniqExact(trial), uniqCombined(12)(trial), topK(3)(code), any(code), anyLast(code), argMax(code, decided_at) FROM signals
SELECT sumIf(1, outcome = 'bad'), avgIf(1, outcome = 'good'), countDistinct(target), count(DISTINCT target, probe), sumOrNull(1), uniqArray([1, 2]) FROM verdicts
SELECT count() FILTER (WHERE outcome = 'bad') FROM verdicts
SELECT finalizeAggregation(sumState(number)), sumMerge(s) FROM (SELECT number, sumState(number) AS s FROM numbers(3) GROUP BY number) GROUP BY number
SELECT row_number() OVER (PARTITION BY target ORDER BY decided_at) AS n, lagInFrame(outcome) OVER w, first_value(outcome) OVER w FROM verdicts WINDOW w AS (PARTITION BY target ORDER BY decided_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
SELECT target, rank() OVER (ORDER BY count() DESC), dense_rank() OVER (ORDER BY count()) FROM verdicts GROUP BY target QUALIFY rank() OVER (ORDER BY count()) < 10
SELECT lag(number, 1, 0) OVER (ORDER BY number), lead(number) OVER (ORDER BY number), sum(number) OVER (ORDER BY number RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM numbers(5)
SELECT CASE WHEN outcome = 'bad' THEN 1 WHEN outcome = 'good' THEN 0 ELSE NULL END, CASE outcome WHEN 'bad' THEN 'b' ELSE 'g' END FROM verdicts
SELECT if(scheduled, 'yes', 'no'), multiIf(outcome = 'bad', 2, outcome = 'good', 1, 0), scheduled ? 1 : 0, nullIf(target, ''), coalesce(NULL, 1), ifNull(NULL, 2) FROM verdicts
SELECT toDateTime64('2026-01-01 00:00:00.123', 3, 'UTC'), DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', INTERVAL 3 DAY, now64(3), today(), yesterday(), toStartOfMonth(now()), dateDiff('day', toDate('2026-01-01'), toDate('2026-02-01'))
SELECT formatDateTime(now(), '%F %T'), toUnixTimestamp(now()), toYYYYMMDD(now()), toHour(now()), dateAdd(DAY, 1, now()), date_trunc('hour', now()), toISOWeek(now()), extract(YEAR FROM now()), now() AT TIME ZONE 'Europe/Berlin'
SELECT CAST(1 AS String), CAST('1', 'UInt8'), '1'::UInt8, toString(1), toInt32OrNull('x'), toUInt64OrZero('y'), toFloat64('1.5'), cast(NULL AS Nullable(String)), toDecimal64(1.5, 2), toLowCardinality('x'), toNullable(1), [1, 2]::Array(UInt8)
SELECT lower(target), upper(target), substring(target, 1, 2), position(target, 'a'), replaceAll(target, 'a', 'b'), splitByChar('/', stratum)[1], concat(target, '-', probe), target || probe, length(target), trim(target), startsWith(target, 'l'), match(target, '^l.*'), extract(target, '(l)'), like(target, 'l%') FROM verdicts
SELECT target FROM verdicts WHERE target LIKE 'l%' AND target NOT LIKE '%x' AND probe ILIKE 'P%' AND outcome NOT IN ('error', 'invalid') AND decided_at BETWEEN '2026-01-01' AND '2027-01-01' AND finding IS NOT NULL OR target REGEXP 'x'
SELECT tuple(1, 'a').1, (1, 2), map('a', 1)['a'], [1, 2, 3][-1], mapKeys(map('a', 1)), arraySum([1, 2]), has([1], 1), arrayElement([1], 1), length([1]), arraySort([2, 1]), range(3), arrayEnumerate(['a']), indexOf([1, 2], 2)
SELECT JSONExtractString('{"a": "b"}', 'a'), JSONExtractInt('{"a": 1}', 'a'), JSONHas('{}', 'a'), simpleJSONExtractInt('{"a":1}', 'a'), JSON_VALUE('{"a":1}', '$.a')
SELECT round(1.5), floor(1.2), ceil(1.2), abs(-1), greatest(1, 2), least(1, 2), sqrt(4), pow(2, 3), log(2), exp(1), intDiv(3, 2), 3 DIV 2, 3 MOD 2, -1, +1, 1e3, 0x1F, isNaN(nan), isFinite(inf)
SELECT cityHash64('a'), sipHash64('a'), hex(MD5('a')), hex(SHA256('a')), xxHash64('x'), farmHash64('x'), murmurHash3_64('x'), toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0'), generateUUIDv4(), base64Encode('a'), bitAnd(1, 3), rand() < 0
SELECT toTypeName(1), toTypeName(decided_at), isNull(NULL), NOT 1, 1 AND 0, 1 OR 0, xor(1, 1), assumeNotNull(NULL::Nullable(UInt8)), materialize(1), ignore(1), formatReadableSize(1000), formatReadableQuantity(1), bar(1, 0, 2, 10) FROM verdicts
SELECT * APPLY(toString) FROM verdicts
SELECT COLUMNS('target|probe') FROM verdicts
SELECT COLUMNS('^id$') APPLY(x -> length(x)), * EXCEPT (id) REPLACE (upper(target) AS target) FROM verdicts
SELECT target AS "the target", `outcome` AS `o``o`, 'it''s' AS x, 'tab\there' AS y, $$dollar 'quoted'$$ AS z FROM verdicts
SELECT target, count() FROM verdicts GROUP BY ROLLUP(target) ORDER BY 2
SELECT target, probe, count() FROM verdicts GROUP BY GROUPING SETS ((target), (probe)) ORDER BY ALL
SELECT target, probe, count() FROM verdicts GROUP BY CUBE(target, probe)
SELECT target, count() FROM verdicts GROUP BY ALL
SELECT DISTINCT ON (target) target, outcome FROM verdicts ORDER BY target
SELECT target FROM verdicts ORDER BY decided_at DESC, target ASC NULLS LAST LIMIT 1 BY target LIMIT 5 WITH TIES
SELECT target FROM verdicts ORDER BY target COLLATE 'en' LIMIT 3
SELECT target FROM verdicts PREWHERE outcome = 'bad' WHERE scheduled
SELECT TOP 3 target FROM verdicts
FROM verdicts SELECT count()
SELECT count() FROM default.verdicts -- the end
SELECT /* why */ count() /* how */ FROM verdicts;
SELECT 1 AS `a b`, 2 AS "c.d"
SELECT 'ключ', '名前', '\x41', 'emoji 😀'
-- Corners of the language.
SELECT count() OVER () FROM numbers(3)
SELECT any_value(number) IGNORE NULLS, first_value(number) RESPECT NULLS FROM numbers(3)
SELECT number FROM numbers(10) LIMIT 1, 2 BY number % 3
SELECT number FROM numbers(10) LIMIT 2 OFFSET 1 BY number % 3
SELECT 1 FROM system.one AS a GLOBAL ANY LEFT JOIN system.one AS b ON a.dummy = b.dummy
SELECT 1 FROM system.one AS a ANTI LEFT JOIN system.one AS b USING dummy
SELECT * FROM (SELECT 1 AS a) AS x PASTE JOIN (SELECT 2 AS b) AS y
SELECT * FROM system.one AS x NATURAL JOIN system.one AS y
WITH t(a, b) AS (SELECT 1, 2) SELECT a + b FROM t
SELECT COLUMNS(target, probe) FROM verdicts
SELECT v.COLUMNS('^id$') FROM verdicts AS v
SELECT v.COLUMNS(id, target) FROM verdicts AS v
SELECT 1 IS NOT DISTINCT FROM 2, NULL IS NULL
SELECT 1 <=> 2
SELECT 1 = ANY (SELECT 1), 1 > ALL (SELECT 0)
SELECT number FROM numbers(10) ORDER BY number NULLS FIRST OFFSET 1 ROW FETCH FIRST 3 ROWS ONLY
SELECT number FROM numbers(10) ORDER BY number FETCH FIRST 3 ROWS WITH TIES
SELECT * APPLY(quantile(0.9)) FROM numbers(3)
SELECT * APPLY(max) APPLY(toString) FROM numbers(3)
SELECT untuple((1, 'a'))
SELECT i FROM (SELECT [1,2] AS x) ARRAY JOIN arrayEnumerate(x) AS i
SELECT v.id FROM verdicts AS v FINAL
SELECT toDate('2026-01-31') + INTERVAL 1 MONTH - INTERVAL '2' DAY, INTERVAL '1 day 2 hours'
SELECT (SELECT 1), (SELECT count() FROM verdicts) AS n
SELECT number, if(number > 1, 'a', NULL) AS x FROM numbers(3) ORDER BY x DESC NULLS LAST
SELECT grouping(target), count() FROM verdicts GROUP BY ROLLUP(target)
SELECT target, count() FROM verdicts GROUP BY target WITH ROLLUP
SELECT target, count() FROM verdicts GROUP BY target WITH CUBE
SELECT sum(number) OVER w2 FROM numbers(3) WINDOW w AS (PARTITION BY number), w2 AS (w ORDER BY number)
SELECT nth_value(number, 2) OVER (ORDER BY number ROWS 1 PRECEDING), percent_rank() OVER (ORDER BY number), ntile(2) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM numbers(3)
SELECT arrayReduce('sum', [1,2]), arrayReduce('quantile(0.5)', [1,2])
SELECT 1 AS a, a + 1 AS b, b * 2 AS c
SELECT [1, 2, 3][1], (1, 2).1, tupleElement((1, 2), 1), ('a', 1) = ('a', 1)
SELECT 'a' || 'b', NOT true, true AND false, 5 % 2, -5, 2 BETWEEN 1 AND 3
SELECT trim(BOTH 'x' FROM 'xax'), substring('abc' FROM 2 FOR 1), position('b' IN 'abc'), extract(DAY FROM today()), overlay('abc' PLACING 'x' FROM 2)
SELECT date_add(DAY, 1, today()), date_sub(today(), INTERVAL 1 DAY), dateDiff(DAY, today(), today()), timestamp_add(now(), INTERVAL 1 HOUR)
SELECT toStartOfInterval(now(), toIntervalMinute(5)), toStartOfInterval(now(), INTERVAL 5 MINUTE, 'UTC')
SELECT number FROM numbers(5) QUALIFY row_number() OVER (ORDER BY number) = 1
SELECT * FROM numbers(3) AS t(x)
SELECT t.x FROM values('x UInt8', 1, 2) AS t
SELECT * FROM (VALUES (1, 2), (3, 4))
SELECT count() FROM verdicts WHERE (target, probe) IN (('a', 'b'))
SELECT count() FROM verdicts WHERE (target, probe) IN (SELECT target, probe FROM trials)
SELECT count() FROM verdicts WHERE target IN ('a')
SELECT count() FROM verdicts WHERE target IN 'a'
SELECT count() FROM verdicts WHERE target IN tuple('a', 'b')
SELECT count() FROM verdicts WHERE id IN (SELECT verdict FROM signals) AND decided_at > (SELECT min(decided_at) FROM verdicts)
SELECT 1 WHERE (1) IN (1)
SELECT number IN (SELECT 1) ? 1 : 2 FROM numbers(2)
SELECT count(*) AS "n", sum(1) sum1 FROM "verdicts" "v" WHERE "v"."id" <> ''
SELECT DISTINCT ON (target) * FROM verdicts
SELECT * FROM verdicts LIMIT 10 UNION ALL SELECT * FROM verdicts LIMIT 10
SELECT * FROM ((SELECT 1) UNION DISTINCT (SELECT 2))
SELECT 1 ORDER BY 1 LIMIT 1 SETTINGS max_threads = 1, log_comment = 'x' FORMAT JSON
SELECT uniqMerge(u) FROM (SELECT uniqState(number) AS u FROM numbers(3))
SELECT sumMap([1], [2]), sumMap(map('a', 1)), groupArrayArray([1]), maxIf(1, 1), minOrNull(1), countIf(1), avgWeighted(1, 2)
SELECT retention(1, 1), windowFunnel(10)(now(), 1, 1), sequenceMatch('(?1)(?2)')(now(), 1, 1)
SELECT name FROM system.columns WHERE database = currentDatabase() AND table LIKE 'ver%' ORDER BY position
SELECT * FROM information_schema.tables WHERE table_schema = 'default' LIMIT 1
SELECT database, name, engine FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')
select timezone(), now(), today() from system.one
SELECT 0x1F, 1e-3, .5, 1_000, inf, nan, NULL, true, 'x', b'101', x'41'
SELECT getSetting('max_threads')
SELECT a.1 FROM (SELECT (1,2) AS a)
SELECT toInt64(5) AS `weird name`, 1 AS "select"
SELECT number AS n FROM numbers(3) WHERE n > 1 GROUP BY n HAVING n > 0
SELECT decided_at::Date AS d, count() FROM verdicts GROUP BY d
SELECT * FROM numbers(3) WHERE number GLOBAL NOT IN (1)
SHOW TABLES WHERE name LIKE 'v%'
SHOW TABLES NOT LIKE 'v%' LIMIT 2
SHOW DATABASES LIKE 'def%'
SHOW COLUMNS IN verdicts
SHOW INDEXES FROM verdicts
SHOW CREATE VIEW verdicts_daily_view
EXISTS VIEW verdicts_daily_view
SHOW FIELDS FROM verdicts
DESCRIBE verdicts_daily
EXPLAIN header = 1, actions = 1 SELECT 1
EXPLAIN json = 1, indexes = 1 SELECT count() FROM verdicts WHERE target='a' FORMAT TSVRaw
EXPLAIN PLAN SELECT 1
EXPLAIN SYNTAX oneline = 1 SELECT 1
SELECT sumSimpleState(number) FROM numbers(3)
SELECT number, lagInFrame(number, 1) OVER (ORDER BY number ASC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM numbers(3)
SELECT exponentialTimeDecayedAvg(10)(number, number) OVER (ORDER BY number) FROM numbers(3)
SELECT arrayZip([1],[2]), arrayMap((a, b) -> (a, b), [1], [2]), arrayFold((acc, x) -> acc + x, [1, 2], toInt64(0))
SELECT JSONExtract('{"a":[1]}', 'a', 'Array(UInt8)')
SELECT '{"a":1}'::JSON AS j, j.a
SELECT splitByChar(',', 'a,b') AS x, arrayJoin(x)
SELECT transform(1, [1], ['a'], 'b'), multiIf(1, 2, 3), toBool(1)
SELECT dateName('month', today()), monthName(today()), formatReadableTimeDelta(100), parseDateTimeBestEffort('2026-01-01')
SELECT * FROM verdicts AS v INNER JOIN (SELECT verdict, count() AS n FROM signals GROUP BY verdict) AS s ON v.id = s.verdict AND s.n > 1
SELECT * FROM verdicts v1 JOIN verdicts v2 ON v1.id = v2.id JOIN verdicts v3 ON v2.id = v3.id
SELECT toString(toDateTime64('2026-01-01 00:00:00', 3, 'UTC')) || 'Z'
SELECT * FROM verdicts WHERE decided_at >= '2026-01-01' AND decided_at < '2026-02-01' ORDER BY decided_at DESC LIMIT 10 OFFSET 10
SELECT L2Distance([1,2],[3,4]), hex(sipHash128('a'))
-- Types, patterns and repeated texts as people write them.
SELECT CAST(1 AS INT UNSIGNED), CAST('1' AS DOUBLE PRECISION), CAST(1 AS VARCHAR(10)), CAST('a', 'Enum8(\'a\' = 1, \'b\' = -2)'), CAST('a' AS Enum('a', 'b'))
SELECT CAST((1, 'a'), 'Tuple(a UInt8, b String)').a, CAST([(1, 'a')], 'Nested(a UInt8, b String)'), CAST(map('a', 1), 'Map(LowCardinality(String), Nullable(UInt8))')
SELECT CAST('2026-01-01 00:00:00', 'DateTime64(3, \'UTC\')'), CAST('2026-01-01 00:00:00' AS DateTime('Europe/Berlin')), toDecimal64(1, 2)::Decimal(18, 4), 'ab'::FixedString(2)
SELECT CAST('a', 'Variant(String, UInt8)') AS v, variantElement(v, 'String'), CAST(1, 'Dynamic(max_types = 3)') AS d, dynamicElement(d, 'UInt8')
SELECT CAST('{"a": 1}', 'JSON(a UInt8, max_dynamic_paths = 10)') AS j, j.a, j.b.:Int64, j.b.:`Array(Int64)`, getSubcolumn(j, 'a')
SELECT JSONExtract('{"a": 1}', 'a', 'Nullable(Float64)'), JSONExtract('{"a": 1}', 'Tuple(a UInt8)'), JSONExtractKeysAndValues('{"a": 1}', 'Int8'), defaultValueOfTypeName('Array(String)')
SELECT * FROM values('a UInt8, `b c` Array(Nullable(String)), d DateTime64(3, \'UTC\')', (1, ['x'], '2026-01-01 00:00:00'))
SELECT * FROM values('a', 'b') AS a, values((1, 'x'), (2, 'y')) AS b, values(1, 2) AS c, values([1], [2]) AS d
SELECT accurateCastOrNull(300, 'UInt8'), accurateCastOrDefault(300, 'UInt8', 1::UInt8), toInt64('5')::Nullable(Int64)
SELECT target FROM verdicts WHERE target LIKE concat('%', {target:String}, '%') OR match(target, '^' || lower({target:String})) OR target ILIKE {target:String}
SELECT replaceRegexpAll(target, '[^a-z]+', '-'), splitByRegexp('[/-]', target), extractAll(target, '\\w+'), countMatches(target, 'a'), COLUMNS('^(id|target)$') FROM verdicts
SELECT repeat('#', 20), repeat('█', least(toUInt32(count()), 40)), leftPad('7', 3, '0'), rightPad(target, 20), space(3), toFixedString('ab', 4), printf('%08.3f|%-10s', 1.5, 'x') FROM verdicts GROUP BY target
WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a), c AS (SELECT * FROM b), d AS (SELECT * FROM a, b, c) SELECT (SELECT count() FROM a), (SELECT count() FROM b), (SELECT count() FROM d), count() FROM a, b, c, d
-- Where things are and how they go.
SHOW CREATE TABLE verdicts
SHOW CREATE TABLE default.trials
SHOW CREATE default.trials
EXISTS TABLE verdicts
EXISTS default.nothing
SHOW COLUMNS FROM verdicts
SHOW FULL COLUMNS FROM verdicts FROM default LIKE 't%'
SHOW INDEX FROM verdicts
SHOW FUNCTIONS LIKE 'toStart%'
SHOW SETTINGS LIKE 'max_exec%'
EXPLAIN SELECT count() FROM verdicts
EXPLAIN PLAN indexes = 1 SELECT count() FROM verdicts WHERE target = 'lab'
EXPLAIN PIPELINE SELECT count() FROM verdicts
EXPLAIN SYNTAX SELECT count() FROM verdicts
EXPLAIN QUERY TREE SELECT 1
EXPLAIN ESTIMATE SELECT count() FROM verdicts
SELECT table, sum(rows), formatReadableSize(sum(bytes_on_disk)) FROM system.parts WHERE active GROUP BY table
SELECT name, engine, total_rows FROM system.tables WHERE database = 'default'
SELECT name, type FROM system.columns WHERE table = 'verdicts'
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'default'
SELECT table_name FROM INFORMATION_SCHEMA.TABLES
SELECT name FROM system.data_type_families
SELECT name FROM system.formats WHERE is_output
SELECT name FROM system.table_engines
SELECT name FROM system.databases WHERE name NOT IN ('system')
SELECT time_zone FROM system.time_zones LIMIT 1
-- Formats.
SELECT 1 AS a FORMAT JSON
SELECT 1 AS a FORMAT JSONCompact
SELECT 1 AS a FORMAT JSONEachRow
SELECT 1 AS a FORMAT TabSeparatedWithNamesAndTypes
SELECT 1 AS a FORMAT TSVWithNames
SELECT 1 AS a FORMAT CSVWithNames
SELECT 1 AS a FORMAT Native
SELECT 1 AS a FORMAT RowBinary
SELECT 1 AS a FORMAT PrettyCompact
SELECT 1 AS a FORMAT Vertical
SELECT 1 AS a FORMAT Markdown
SELECT 1 AS a FORMAT Values
SELECT 1 AS a FORMAT XML
SELECT 1 AS a FORMAT Parquet
SELECT 1 AS a FORMAT ArrowStream
SELECT 1 AS a FORMAT Null
SHOW TABLES FORMAT JSON
DESCRIBE TABLE verdicts FORMAT JSONEachRow
EXPLAIN SELECT 1 FORMAT TSVRaw
