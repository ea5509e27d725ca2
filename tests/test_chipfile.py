"""Reading the hardware tables: no wrong prefix, misspelled key or missing source gets through."""

import copy
import re

import pytest

from primer import _chipbounds, _chipfile, _tables

RAW = {chip: _chipfile.read_raw(chip) for chip in _chipfile.ids()}


def fields(table, path=()):
    """Every table with a value, anywhere in a file, with the path to it."""
    for key, entry in table.items():
        if isinstance(entry, dict):
            if "value" in entry:
                yield (*path, key)
            yield from fields(entry, (*path, key))


def changed(chip, path, **keys):
    """A file's contents with some keys of one field replaced, or removed by None."""
    raw = copy.deepcopy(RAW[chip])
    field = raw
    for key in path:
        field = field[key]
    field.update(keys)
    for key in [k for k, v in keys.items() if v is None]:
        del field[key]
    return raw


def build(chip, raw):
    return _chipfile.build_chip(chip, raw, _chipfile.read_sources())


NUMBERS = [(chip, path) for chip in sorted(RAW) for path in fields(RAW[chip])]


def field(chip, path):
    table = RAW[chip]
    for key in path:
        table = table[key]
    return table


@pytest.mark.parametrize("chip", sorted(RAW))
def test_a_wrong_prefix_does_not_pass(chip):
    numbers = [path for known, path in NUMBERS if known == chip]
    assert len(numbers) >= 2
    for path in numbers:
        for key in {"value", "upper"} & set(field(chip, path)):
            for factor in (1000, 1 / 1000):
                slipped = field(chip, path)[key] * factor
                slipped = int(slipped) if slipped == int(slipped) else slipped
                where = re.escape(f"{chip}.toml: {'.'.join(path)}.{key}")
                with pytest.raises(ValueError, match=rf"^{where} must (lie between|be a pos)"):
                    build(chip, changed(chip, path, **{key: slipped}))


@pytest.mark.parametrize(
    ("chip", "path", "keys", "message"),
    [
        (
            "h100_sxm5_80gb", ("memory", "hbm", "capacity"), {"unit": "TB"},
            "hbm.capacity.value must lie between 4 GB and 2 TB; got '80 TB'",
        ),
        (
            "grace", ("memory", "lpddr", "bandwidth"), {"value": 80, "unit": "TB/s"},
            "lpddr.bandwidth.value must lie between 50 GB/s and 3 TB/s; got '80 TB/s'",
        ),
        (
            "t4", ("memory", "gddr", "bandwidth"), {"value": 80, "unit": "TB/s"},
            "gddr.bandwidth.value must lie between 200 GB/s and 50 TB/s; got '80 TB/s'",
        ),
        (
            "trainium2", ("memory", "hbm", "bandwidth"), {"value": 80, "unit": "TB/s"},
            "hbm.bandwidth.value must lie between 200 GB/s and 50 TB/s; got '80 TB/s'",
        ),
        (
            "m4", ("memory", "lpddr", "bandwidth"), {"value": 120, "unit": "TB/s"},
            "lpddr.bandwidth.value must lie between 30 GB/s and 3 TB/s; got '120 TB/s'",
        ),
    ],
)  # fmt: skip
def test_a_terabyte_where_a_gigabyte_was_meant_does_not_pass(chip, path, keys, message):
    with pytest.raises(ValueError, match=message):
        build(chip, changed(chip, path, **keys))


def test_wide_ranges_belong_to_named_chips_only():
    assert _chipbounds.exceptions() == ("tpu_v1", "groq_lpu_v1", "wse3")
    assert build("groq_lpu_v1", RAW["groq_lpu_v1"]).bandwidth_bytes_per_s == 80e12
    with pytest.raises(ValueError, match="between 200 GB/s and 50 TB/s; got '80 TB/s'"):
        build("another", RAW["groq_lpu_v1"] | {"memory": {"sram": main_memory("groq_lpu_v1")}})
    for kind in _chipbounds.KINDS:
        unit, low, high = _chipbounds.bounds("memory.main.bandwidth", kind=kind)
        assert unit == "B/s"
        assert high / low < 1000


def main_memory(chip):
    """The main memory of a chip, large enough for the general ranges."""
    table = copy.deepcopy(RAW[chip]["memory"]["sram"])
    table["capacity"] |= {"value": 16, "unit": "GB"}
    return table


BF16 = ("peak", "bf16", "matrix")
SLIPS = [
    (BF16, {"value": -1}, r"peak.bf16.matrix.value must be positive; got -1"),
    (BF16, {"value": "989"}, r"peak.bf16.matrix.value must be positive; got '989'"),
    (BF16, {"unit": "TB/s"}, r"peak.bf16.matrix.unit must measure FLOP/s; got 'TB/s'"),
    (BF16, {"unit": "TFLOPS"}, r"unit must be a known unit .*TFLOP/s"),
    (BF16, {"unit": None}, r"peak.bf16.matrix.unit must be a text"),
    (BF16, {"sources": "x"}, r"peak.bf16.matrix: key must be one of .*did you mean 'source'"),
    (BF16, {"source": None}, r"peak.bf16.matrix.source must be a key of .*; got None"),
    (BF16, {"source": "lockwood_h10"}, r"source must be a key .* \(did you mean 'lockwood_h100'"),
    (BF16, {"source": "9"}, r"source must be a key of data/sources.toml; got '9'"),
    (BF16, {"read": None}, r"peak.bf16.matrix.read must be a text"),
    (BF16, {"read": "not stated"}, r"read must be a date such as 2026-11-29; got 'not stated'"),
    (BF16, {"published": "last year"}, r"published must be a date"),
    (BF16, {"published": "2027"}, r"published must not be later than read"),
    (BF16, {"status": "guessed"}, r"status must be one of published, derived"),
    (BF16, {"status": "not published"}, r'value must be left out where status is "not published"'),
    (BF16, {"value": None}, r'value must be there unless status is "not published"'),
    (BF16, {"convention": "matrix units"}, r"convention must say 'dense' and 'matrix'"),
    (("count", "sms"), {"value": 131.5}, r"count.sms.value must be a positive integer; got 131.5"),
    (("chip",), {"kind": "gpgpu"}, r"chip.kind must be one of gpu, tpu, cpu, npu, soc"),
    (("chip",), {"name": None}, r"chip.name must be a text; got None"),
    (("chip",), {"family": "GPU"}, r"chip.family must be one of NVIDIA data-center GPU, "),
    (("chip",), {"family": None}, r"chip.family must be one of .*got None"),
    (("chip",), {"announced": "yes"}, r"chip.announced must be True or False; got 'yes'"),
    (("memory", "hbm"), {"scope": "die"}, r"memory.hbm.scope must be one of core, chip"),
    (("memory", "hbm"), {"bandwidth": None}, r"memory must end with a main memory; got 'hbm'"),
    (("link", "nvlink"), {"oneway": None}, r"link.nvlink.oneway must be there"),
    (("link", "nvlink"), {"kind": "ring"}, r"link.nvlink.kind must be one of scale_up, host"),
    (("release",), {"text": "spring"}, r"release.text must be a date"),
    (("release",), {"text": "2022/spring"}, r"release.text must be a date .*got 'spring'"),
    (("release",), {"text": "2023/2022"}, r"release.text must end no sooner than it begins"),
    ((), {"release": None}, r"release must be there; got None"),
    (("peak",), {"bf61": {}}, r"peak must be one of fp64, .*did you mean 'bf16'"),
    (("peak", "bf16"), {"tensor": {}}, r"peak.bf16: key must be one of matrix, vector"),
    ((), {"peaks": {}}, r"key must be one of chip, .*did you mean 'peak'"),
    ((), {"memory": None}, r"memory must be there; got None"),
    (("count",), {"sockets": {}}, r"field must have bounds .*got 'count.sockets'"),
]


@pytest.mark.parametrize(("path", "keys", "message"), SLIPS, ids=[m[:50] for _, _, m in SLIPS])
def test_slips_are_named_with_file_and_field(path, keys, message):
    with pytest.raises(ValueError, match=message) as caught:
        build("h100_sxm5_80gb", changed("h100_sxm5_80gb", path, **keys))
    named_by_units = ("unit must be a known", "field must have")
    assert str(caught.value).startswith(("h100_sxm5_80gb.toml", *named_by_units))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"title": "t", "address": "ftp://x.org", "kind": "primary"}, "be an http"),
        ({"title": "", "address": "https://x.org", "kind": "primary"}, "title must be a text"),
        ({"title": "t", "address": "https://x.org", "kind": "rumor"}, "kind must be one of"),
        ({"title": "t", "url": "https://x.org", "kind": "primary"}, "key must be one of"),
    ],
)
def test_slips_in_the_sources(entry, message):
    with pytest.raises(ValueError, match=rf"^sources.toml: mine.*{message}"):
        _chipfile.build_sources({"mine": entry})


def test_a_file_that_is_no_toml_is_named(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sources.toml").write_text("[mine\n")
    monkeypatch.setattr(_tables.resources, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=r"^data/sources.toml must be TOML; .*line 1"):
        _tables.read_anew("data/sources.toml")


@pytest.mark.parametrize("chip", sorted(RAW))
def test_unchanged_files_pass(chip):
    assert build(chip, RAW[chip]).id == chip
