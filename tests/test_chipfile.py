"""Reading the hardware tables: no wrong prefix, misspelled key or missing source gets through."""

import copy
import re
import tomllib

import pytest

from primer import _chipfile

RAW = {chip: tomllib.loads(text) for chip, text in _chipfile.raw_chips().items()}


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


@pytest.mark.parametrize(
    ("chip", "path"), NUMBERS, ids=lambda x: x if isinstance(x, str) else ".".join(x)
)
@pytest.mark.parametrize("factor", [1000, 1 / 1000])
def test_a_wrong_prefix_does_not_pass(chip, path, factor):
    field = RAW[chip]
    for key in path:
        field = field[key]
    slipped = field["value"] * factor
    slipped = int(slipped) if slipped == int(slipped) else slipped
    message = (
        rf"^{chip}\.toml: {re.escape('.'.join(path))}\.(value|upper) must (lie between|be a pos)"
    )
    with pytest.raises(ValueError, match=message):
        build(chip, changed(chip, path, value=slipped))


def test_a_memory_of_80_tb_does_not_pass():
    raw = changed("h100_sxm5_80gb", ("memory", "hbm", "capacity"), unit="TB")
    message = "hbm.capacity.value must lie between 4 GB and 2 TB; got '80 TB'"
    with pytest.raises(ValueError, match=message):
        build("h100_sxm5_80gb", raw)


BF16 = ("peak", "bf16", "matrix")
SLIPS = [
    (BF16, {"value": -1}, r"peak.bf16.matrix.value must be positive; got -1"),
    (BF16, {"value": "989"}, r"peak.bf16.matrix.value must be positive; got '989'"),
    (BF16, {"unit": "TB/s"}, r"peak.bf16.matrix.unit must measure FLOP/s; got 'TB/s'"),
    (BF16, {"unit": "TFLOPS"}, r"unit must be a known unit .*TFLOP/s"),
    (BF16, {"unit": None}, r"peak.bf16.matrix.unit must be a text"),
    (BF16, {"sources": "x"}, r"peak.bf16.matrix: key must be one of .*did you mean 'source'"),
    (BF16, {"source": None}, r"peak.bf16.matrix.source must be one of .*got None"),
    (BF16, {"source": "lockwood_h10"}, r"source must be one of .*did you mean 'lockwood_h100'"),
    (BF16, {"read": None}, r"peak.bf16.matrix.read must be a text"),
    (BF16, {"read": "not stated"}, r"read must be a date such as 2026-11-29; got 'not stated'"),
    (BF16, {"published": "last year"}, r"published must be a date"),
    (BF16, {"published": "2027"}, r"published must not be later than read"),
    (BF16, {"status": "guessed"}, r"status must be one of published, derived"),
    (BF16, {"status": "not published"}, r'value must be left out where status is "not published"'),
    (BF16, {"value": None}, r'value must be there unless status is "not published"'),
    (BF16, {"convention": "matrix units"}, r"convention must say 'dense' and 'matrix'"),
    (("count", "sms"), {"value": 131.5}, r"count.sms.value must be a positive integer; got 131.5"),
    (("chip",), {"kind": "gpgpu"}, r"chip.kind must be one of gpu, tpu, cpu, npu"),
    (("chip",), {"name": None}, r"chip.name must be a text; got None"),
    (("memory", "hbm"), {"scope": "die"}, r"memory.hbm.scope must be one of core, chip"),
    (("memory", "hbm"), {"bandwidth": None}, r"memory must end with a main memory; got 'hbm'"),
    (("link", "nvlink"), {"oneway": None}, r"link.nvlink.oneway must be there"),
    (("link", "nvlink"), {"kind": "ring"}, r"link.nvlink.kind must be one of scale_up, host"),
    (("release",), {"text": "spring"}, r"release.text must be a date"),
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


@pytest.mark.parametrize("chip", sorted(RAW))
def test_unchanged_files_pass(chip):
    assert build(chip, RAW[chip]).id == chip
