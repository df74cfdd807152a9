"""Every part of SQL that a reader may use: kinds of nodes of the engine's own parse tree.

A kind, or a field of one, that is not here is refused: what we have not looked at may read a file.
"""

from __future__ import annotations

# Where the answer goes is ours to say; these may only be absent or false.
OUTPUT_FLAGS = frozenset(
    {"is_outfile_append", "is_outfile_truncate", "is_into_outfile_with_stdout"}
)

_LIST = ("children",)

NODES: dict[str, frozenset[str]] = {
    kind: frozenset((*fields, "type"))
    for kind, fields in {
        "ExpressionList": _LIST,
        "Literal": ("value", "alias"),
        "Identifier": ("name", "name_parts", "alias", *_LIST),
        "TableIdentifier": ("name", "name_parts", "alias", *_LIST),
        "QueryParameter": ("name", "param_type", "alias"),
        "Subquery": ("alias", "cte_name", *_LIST),
        "WithElement": ("name", "subquery", "aliases"),
        "Function": (
            *("name", "arguments", "parameters", "alias", "kind", "nulls_action"),
            *("is_operator", "is_lambda_function", "is_window_function", "is_compound_name"),
            *("window_name", "window_definition"),
        ),
        "Asterisk": ("expression", "transformers"),
        "QualifiedAsterisk": ("qualifier", "transformers"),
        "ColumnsRegexpMatcher": ("pattern", "expression", "transformers"),
        "ColumnsListMatcher": ("column_list", "expression", "transformers"),
        "QualifiedColumnsRegexpMatcher": ("pattern", "qualifier", "transformers"),
        "QualifiedColumnsListMatcher": ("column_list", "qualifier", "transformers"),
        "ColumnsTransformerList": _LIST,
        "ColumnsApplyTransformer": (
            *("func_name", "parameters", "lambda", "lambda_arg", "column_name_prefix"),
        ),
        "ColumnsExceptTransformer": ("is_strict", "pattern", *_LIST),
        "ColumnsReplaceTransformer": ("is_strict", *_LIST),
        "ColumnsReplaceTransformerReplacement": ("name", *_LIST),
        "SelectWithUnionQuery": (
            *("list_of_selects", "list_of_modes", "union_mode", *OUTPUT_FLAGS),
        ),
        "SelectQuery": (
            *(
                "with",
                "recursive_with",
                "cte_aliases",
                "select",
                "distinct",
                "tables",
                "prewhere",
                "where",
            ),
            *("group_by", "group_by_all", "group_by_with_cube", "group_by_with_rollup"),
            *("group_by_with_totals", "group_by_with_grouping_sets", "having", "window", "qualify"),
            *("order_by", "order_by_all", "interpolate", "limit_by", "limit_by_length"),
            *("limit_by_offset", "limit_by_all", "limit_length", "limit_offset"),
            *("limit_with_ties",),
        ),
        "TablesInSelectQuery": _LIST,
        "TablesInSelectQueryElement": ("table_expression", "table_join", "array_join"),
        "TableExpression": (
            *("database_and_table_name", "table_function", "subquery", "final"),
            *("sample_size", "sample_offset", "column_aliases"),
        ),
        "SampleRatio": ("numerator", "denominator"),
        "TableJoin": (
            *("kind", "strictness", "locality", "is_natural", "on_expression"),
            *("using_expression_list",),
        ),
        "ArrayJoin": ("kind", "expression_list"),
        "OrderByElement": (
            *("expression", "direction", "collation", "nulls_direction"),
            *("nulls_direction_was_explicitly_specified", "with_fill", "fill_from", "fill_to"),
            *("fill_step", "fill_staleness"),
        ),
        "InterpolateElement": ("column", "expr"),
        "WindowListElement": ("name", "definition"),
        "WindowDefinition": (
            *("parent_window_name", "partition_by", "order_by", "frame_is_default", "frame_type"),
            *("frame_begin_type", "frame_begin_preceding", "frame_begin_offset"),
            *("frame_end_type", "frame_end_preceding", "frame_end_offset"),
        ),
    }.items()
}

_PICKED = ("where_expression", "limit_length")
# Statements about the schema, with what may be said in them.
SHOW: dict[str, frozenset[str]] = {
    kind: frozenset((*fields, *OUTPUT_FLAGS, "type", "like", "not_like", "case_insensitive_like"))
    for kind, fields in {
        "ShowTablesQuery": ("databases", "settings", "full", "from", *_PICKED),
        "ShowColumnsQuery": ("database", "table", "full", "extended", *_PICKED),
        "ShowIndexesQuery": ("database", "table", "extended", *_PICKED),
    }.items()
}
EXPLAIN = frozenset({"kind", "settings", "query", "type", *OUTPUT_FLAGS})
# Not EXPLAIN AST, which takes any statement and would take our INTO OUTFILE for a part of it.
EXPLAIN_KINDS = frozenset(
    {
        *("EXPLAIN", "EXPLAIN PLAN", "EXPLAIN PIPELINE", "EXPLAIN SYNTAX", "EXPLAIN ESTIMATE"),
        *("EXPLAIN QUERY TREE",),
    }
)
EXPLAIN_SETTINGS = frozenset(
    {
        *("header", "description", "indexes", "projections", "actions", "sorting", "json"),
        *("graph", "compact", "oneline", "pretty", "run_passes", "dump_passes", "dump_ast"),
        *("dump_tree", "passes", "run_query_tree_passes", "query_tree_passes", "optimize"),
        *("keep_logical_steps", "column_structure", "distributed"),
    }
)
# A statement may carry these; they only cost less or more, so leaving them out changes no answer.
HARMLESS_SETTINGS = frozenset(
    {
        *("max_execution_time", "max_threads", "max_memory_usage", "max_block_size"),
        *("max_result_rows", "max_result_bytes", "log_comment", "log_queries", "priority"),
        *("use_query_cache", "use_uncompressed_cache", "readonly", "max_rows_to_read"),
        *("timeout_before_checking_execution_speed", "output_format_json_quote_64bit_integers"),
    }
)
