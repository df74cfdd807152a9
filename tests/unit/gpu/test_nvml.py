"""GPUs through NVIDIA's binding, over a library that says what it is told to."""

from __future__ import annotations

import pytest

from tests.unit.gpu.conftest import Read

GIB = 1024**3
OF_DRIVER = {
    1: "failed",
    4: "no_permission",
    9: "no_driver",
    12: "no_library",
    13: "symbol_missing",
    17: "failed",
    18: "version_mismatch",
    25: "version_mismatch",
    999: "failed",
    4711: "failed",
}
OF_GPU = {15: "lost", 28: "lost", 16: "reset_required"}
OF_QUANTITY = {
    3: "not_supported",
    4: "no_permission",
    13: "symbol_missing",
    7: "failed",
    10: "failed",
    18: "version_mismatch",
    20: "failed",
    4711: "failed",
}


def test_two_gpus_are_read_with_all_they_say(read: Read) -> None:
    [told] = read({})
    assert (told["driver_state"], told["driver"], told["error_code"]) == ("ok", "580.65.06", 0)
    first, second = told["gpus"]
    assert [each["gpu"] for each in told["gpus"]] == ["0", "1"]
    assert first["uuid"].endswith("0")
    assert second["uuid"].endswith("1")
    assert first["name"] == "Stub S100 80GB"
    assert first["memory"] == {
        "total": 80 * GIB,
        "used": 60 * GIB,
        "free": 19 * GIB,
        "reserved": GIB,
    }
    assert (first["utilization"], first["memory_utilization"]) == (0.75, 0.4)
    assert first["ecc"] == {"corrected": 7, "uncorrected": 0}
    assert first["remapped_rows"] == {
        "correctable": 2,
        "uncorrectable": 1,
        "pending": 0,
        "failure": 0,
    }
    assert first["retired_pages"] == {"single_bit": 0, "double_bit": 1}
    assert first["unread"] == {"mig": "not_supported"}
    assert (first["mig_enabled"], first["mig"]) == (None, [])


def test_processes_are_added_up_by_a_bare_name_with_nothing_of_their_command_line(
    read: Read,
) -> None:
    [told] = read({})
    first, second = told["gpus"]
    assert first["processes"] == 3
    assert first["process_bytes"] == {"sglang": 50 * GIB, "python3": GIB, "other": GIB}
    assert (second["processes"], second["process_bytes"]) == (0, {})
    assert "planted" not in str(told)


def test_a_process_whose_memory_is_not_told_makes_its_sum_unknown(read: Read) -> None:
    [told] = read({"untold": 1})
    first = told["gpus"][0]
    assert first["processes"] == 3
    assert first["process_bytes"] == {"sglang": 50 * GIB, "other": GIB}
    assert first["unread"]["processes"] == "not_supported"


def test_a_driver_that_cannot_be_asked_is_a_state_with_its_code(read: Read) -> None:
    *told, after = read(*({"init": code} for code in OF_DRIVER), {})
    assert [(each["driver_state"], each["error_code"]) for each in told] == [
        (state, code) for code, state in OF_DRIVER.items()
    ]
    assert not any(each["gpus"] for each in told)
    assert after["driver_state"] == "ok"
    assert len(after["gpus"]) == 2


def test_a_driver_that_cannot_count_its_gpus_is_a_failure(read: Read) -> None:
    told, after = read({"counting": 17}, {})
    assert (told["driver_state"], told["error_code"], told["gpus"]) == ("failed", 17, [])
    assert len(after["gpus"]) == 2


@pytest.mark.parametrize(
    ("expected", "shown", "state"),
    [
        (False, False, "no_gpu"),
        (False, True, "no_library"),
        (False, None, "no_library"),
        (True, False, "no_library"),
    ],
)
def test_a_machine_without_the_library_has_no_gpu_only_if_nothing_says_that_it_has(
    read: Read, expected: bool, shown: bool | None, state: str
) -> None:
    told, again = read({}, {}, library=False, expected=expected, shown=shown)
    assert told["driver_state"] == again["driver_state"] == state
    assert (told["gpus"], told["error_code"]) == ([], 12)


@pytest.mark.parametrize(
    ("expected", "shown", "state"),
    [
        (False, False, "no_gpu"),
        (False, None, "no_gpu"),
        (False, True, "failed"),
        (True, False, "failed"),
    ],
)
def test_a_driver_that_lists_no_gpu_is_well_only_if_nothing_says_that_there_is_one(
    read: Read, expected: bool, shown: bool | None, state: str
) -> None:
    told, after = read({"count": 0}, {}, expected=expected, shown=shown)
    assert (told["driver_state"], told["gpus"]) == (state, [])
    assert told["why"]
    # One that is plugged in later is found.
    assert (after["driver_state"], len(after["gpus"])) == ("ok", 2)


def test_gpus_that_are_listed_no_more_are_lost_and_not_forgotten(read: Read) -> None:
    # A GPU in doubt has NVML opened anew.
    *_, gone = read({}, {"gpu1": 15}, {"count": 0}, shown=False)
    assert gone["driver_state"] == "ok"
    assert [each["state"] for each in gone["gpus"]] == ["lost", "lost"]


def test_a_library_that_is_too_old_is_a_state(read: Read) -> None:
    [old] = read({}, flags=("-DWITHOUT_INIT",))
    assert (old["driver_state"], old["error_code"]) == ("symbol_missing", 13)


def test_a_driver_that_fails_later_forgets_no_gpu(read: Read) -> None:
    _, lost, gone = read({}, {"gpu1": 15}, {"init": 9})
    assert [each["state"] for each in lost["gpus"]] == ["ok", "lost"]
    assert gone["driver_state"] == "no_driver"
    assert [each["state"] for each in gone["gpus"]] == ["failed", "failed"]
    assert gone["gpus"][0]["uuid"] == lost["gpus"][0]["uuid"]


def test_a_gpu_that_is_lost_while_running_is_said_to_be_and_comes_back(read: Read) -> None:
    steps = [step for code in OF_GPU for step in ({"gpu1": code}, {})]
    before, *told = read({}, *steps)
    assert [each["state"] for each in before["gpus"]] == ["ok", "ok"]
    for (code, state), during, after in zip(OF_GPU.items(), told[::2], told[1::2], strict=True):
        whole, lost = during["gpus"]
        assert (whole["state"], whole["memory"]["used"]) == ("ok", 60 * GIB)
        assert (lost["gpu"], lost["state"], lost["error_code"]) == ("1", state, code)
        assert lost["memory"]["used"] is None
        assert lost["name"] == "Stub S100 80GB"
        assert after["gpus"] == before["gpus"]


def test_a_gpu_that_the_driver_no_longer_lists_is_lost_and_no_other_takes_its_label(
    read: Read,
) -> None:
    before, _, during, after = read({}, {"gpu0": 15}, {"gpu0": 15, "count": 1, "first": 1}, {})
    lost, whole = during["gpus"]
    assert (lost["gpu"], lost["state"]) == ("0", "lost")
    assert (whole["gpu"], whole["state"], whole["uuid"]) == ("1", "ok", before["gpus"][1]["uuid"])
    assert after["gpus"] == before["gpus"]


@pytest.mark.parametrize("handle", [{}, {"handle1": 15}])
def test_a_lost_gpu_that_gives_no_name_any_more_is_the_one_that_was_there(
    read: Read, handle: dict[str, int]
) -> None:
    """Some drivers still give a handle, and refuse the UUID: each reading opens the driver anew."""
    gone = {"gpu1": 15, **handle}
    before, *during, after = read({}, gone, gone, gone, {})
    for told in during:
        assert [(each["gpu"], each["state"]) for each in told["gpus"]] == [
            ("0", "ok"),
            ("1", "lost"),
        ]
        assert told["gpus"][1]["error_code"] == 15
        assert told["gpus"][1]["uuid"] == before["gpus"][1]["uuid"]
    assert after["gpus"] == before["gpus"]


def test_gpus_whose_names_are_refused_for_a_while_are_no_others(read: Read) -> None:
    # Another one is lost meanwhile, so that the driver is opened anew.
    before, _, unnamed, _, after = read({}, {"gpu1": 15}, {"uuid": 999}, {"gpu0": 15}, {})
    assert [(each["gpu"], each["state"]) for each in unnamed["gpus"]] == [("0", "ok"), ("1", "ok")]
    assert [each["uuid"] for each in unnamed["gpus"]] == [each["uuid"] for each in before["gpus"]]
    assert {each["unread"].get("identity") for each in unnamed["gpus"]} == {"failed"}
    assert after["gpus"] == before["gpus"]


def test_an_unnamed_gpu_that_moved_is_one_of_those_that_nothing_answers_for(read: Read) -> None:
    """Index 0 left the listing, and what moved there gives no name: two GPUs stay two."""
    before, _, moved, _, after = read(
        {}, {"gpu0": 15}, {"gpu0": 15, "gpu1": 15, "count": 1, "first": 1}, {"gpu0": 15}, {}
    )
    assert [each["gpu"] for each in moved["gpus"]] == ["0", "1"]
    assert [each["state"] for each in moved["gpus"]] == ["lost", "lost"]
    assert after["gpus"] == before["gpus"]


def test_a_gpu_that_gives_no_handle_at_first_is_the_same_one_later(read: Read) -> None:
    first, second = read({"handle0": 15}, {})
    states = {each["gpu"]: each["state"] for each in first["gpus"]}
    assert states == {"1": "ok", "0": "lost"}
    assert {each["gpu"]: each["state"] for each in second["gpus"]} == {"0": "ok", "1": "ok"}
    by_label = {each["gpu"]: each["uuid"][-1] for each in second["gpus"]}
    assert by_label == {"0": "0", "1": "1"}


def test_no_permission_for_one_gpu_is_said_of_that_one(read: Read) -> None:
    [told] = read({"handle1": 4})
    assert {each["gpu"]: each["state"] for each in told["gpus"]} == {
        "0": "ok",
        "1": "no_permission",
    }


def test_one_quantity_that_is_refused_costs_only_itself(read: Read) -> None:
    asked = {
        **{name: name for name in ("utilization", "ecc", "processes", "mig")},
        "rows": "remapped_rows",
        "pages": "retired_pages",
    }
    cases = [(key, code) for key in asked for code in OF_QUANTITY]
    found = read(*({key: code} for key, code in cases))
    for (key, code), told in zip(cases, found, strict=True):
        for each in told["gpus"]:
            assert each["state"] == "ok"
            assert each["unread"] == {"mig": "not_supported", asked[key]: OF_QUANTITY[code]}
            assert each["memory"]["used"] == 60 * GIB


def test_mended_errors_are_kept_where_the_others_are_refused(read: Read) -> None:
    [told] = read({"ecc_uncorrected": 3})
    assert told["gpus"][0]["ecc"] == {"corrected": 7}
    assert told["gpus"][0]["unread"]["ecc"] == "not_supported"


@pytest.mark.parametrize("flags", [("-DWITHOUT_MEMORY_V2",), ()])
def test_memory_falls_back_to_the_older_structure(read: Read, flags: tuple[str, ...]) -> None:
    [told] = read({} if flags else {"memory": 25}, flags=flags)
    assert told["gpus"][0]["memory"] == {
        "total": 80 * GIB,
        "used": 61 * GIB,
        "free": 19 * GIB,
        "reserved": None,
    }


def test_memory_that_fails_makes_the_gpu_failed_with_the_code(read: Read) -> None:
    [told] = read({"memory": 999})
    assert [(each["state"], each["error_code"]) for each in told["gpus"]] == [("failed", 999)] * 2


def test_memory_that_is_not_supported_leaves_the_gpu_well(read: Read) -> None:
    [told] = read({"memory": 3})
    assert told["gpus"][0]["state"] == "ok"
    assert told["gpus"][0]["unread"]["memory"] == "not_supported"


def test_a_symbol_that_is_missing_is_a_gap_and_processes_have_an_older_one(read: Read) -> None:
    [told] = read({}, flags=("-DWITHOUT_UTILIZATION", "-DWITHOUT_PROCESSES_V3"))
    first = told["gpus"][0]
    assert first["unread"] == {"mig": "not_supported", "utilization": "symbol_missing"}
    assert first["processes"] == 3


def test_a_name_that_is_no_text_is_left_out(read: Read) -> None:
    [told] = read({"name_bytes": 1})
    assert [(each["state"], each["name"]) for each in told["gpus"]] == [("ok", "")] * 2


def test_a_gpu_that_gives_no_uuid_goes_by_its_index_and_that_is_a_gap(read: Read) -> None:
    [told] = read({"uuid": 3})
    assert [each["gpu"] for each in told["gpus"]] == ["0", "1"]
    assert told["gpus"][0]["unread"]["identity"] == "failed"


def test_instances_of_a_divided_gpu_have_their_profile_and_memory(read: Read) -> None:
    [told] = read({"divided": 1, "utilization": 3})
    first = told["gpus"][0]
    assert first["mig_enabled"] is True
    assert [(each["instance"], each["profile"]) for each in first["mig"]] == [
        ("0", "1g.10gb"),
        ("1", "1g.10gb"),
    ]
    assert first["mig"][0]["memory"]["used"] == 4 * GIB
    [whole] = read({"divided": 0})
    assert whole["gpus"][0]["mig_enabled"] is False


def test_reported_errors_are_counted_by_gpu_and_xid(read: Read) -> None:
    before, first, second = read({}, {"xids": 3, "xid": 79}, {"xids": 4, "xid": 48}, listens=4)
    assert before["xids"] == {}
    assert first["xids"] == {"1/79": 3}
    assert second["xids"] == {"1/79": 3, "1/48": 1}


def test_counts_of_reported_errors_outlive_a_gpu_that_is_lost(read: Read) -> None:
    [*_, last] = read({}, {"xids": 1}, {"gpu1": 15}, {"gpu1": 15}, {}, listens=4)
    assert last["xids"] == {"1/79": 1}


def test_errors_that_cannot_be_listened_to_are_a_gap(read: Read) -> None:
    # A GPU that is lost between makes the driver be opened anew.
    told, _, other = read({"events": 3}, {"gpu1": 15}, {"registering": 4})
    assert [each["unread"]["xid"] for each in told["gpus"]] == ["not_supported"] * 2
    assert [each["unread"]["xid"] for each in other["gpus"]] == ["no_permission"] * 2


def test_listening_that_fails_is_begun_anew(read: Read) -> None:
    [*_, last] = read({}, {"waiting": 999}, {}, {"xids": 2}, listens=2)
    assert last["xids"] == {"1/79": 2}
    assert last["driver_state"] == "ok"
