"""Units: the only place where a prefix may go wrong."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import units


@pytest.mark.parametrize(
    ("written", "value", "base"),
    [
        ("1.5 TB/s", 1.5e12, "B/s"),
        ("1.5e12", 1.5e12, "1"),
        ("989.4 TFLOP/s", 989.4e12, "FLOP/s"),
        ("40 TOP/s", 40e12, "OP/s"),
        ("80 GB", 80e9, "B"),
        ("80 GiB", 80 * 1024**3, "B"),
        ("400 Gb/s", 400e9, "bit/s"),
        ("400 GB/s", 400e9, "B/s"),
        ("1.41 µs", 1.41e-6, "s"),
        ("1.41us", 1.41e-6, "s"),
        ("2.1 GHz", 2.1e9, "Hz"),
        ("12,345 B", 12345, "B"),
        ("295.3 FLOP/B", 295.3, "FLOP/B"),
    ],
)
def test_parse_reads_every_kind_of_unit(written, value, base):
    assert units.parse(written) == (value, base)


def test_decimal_and_binary_differ_by_seven_percent_at_giga():
    # 2^30 / 10^9 = 1.073741824
    assert units.parse("1 GiB")[0] / units.parse("1 GB")[0] == 1.073741824


def test_bits_are_not_bytes():
    # A 400 Gb/s link moves 50 GB/s: the two units do not even share a base.
    assert units.parse("400 Gb/s")[1] != units.parse("400 GB/s")[1]
    with pytest.raises(ValueError, match="unit must measure bit/s; got 'GB/s'"):
        units.in_unit(400e9, "bit/s", "GB/s")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("989 TFLOPS", "'TFLOP/s'"),
        ("1 KB", "'kB'"),
        ("3 gb/s", "'GB/s'"),
        ("3 gb/s", "'Gb/s'"),
        ("1 TB/sec", "'TB/s'"),
        ("4 ghz", "'GHz'"),
    ],
)
def test_an_unknown_unit_is_refused_and_the_nearest_named(written, hint):
    with pytest.raises(ValueError, match=f"unit must be a known unit.*{hint}.*got"):
        units.parse(written)


@pytest.mark.parametrize("written", ["", "fast", "B", "1e999 B", None, 5, "nan B", "inf B"])
def test_what_is_no_number_is_refused(written):
    with pytest.raises(ValueError, match=r"^(text|unit) must .+; got "):
        units.parse(written)


@pytest.mark.parametrize(
    ("value", "unit", "digits", "shown"),
    [
        (989.4e12, "FLOP/s", 4, "989.4 TFLOP/s"),
        (3.35e12, "B/s", 4, "3.35 TB/s"),
        (80e9, "B", 4, "80 GB"),
        (1978.9e12, "FLOP/s", 5, "1.9789 PFLOP/s"),
        (999_960.0, "B", 4, "1 MB"),  # rounds up into the next prefix
        (999_940.0, "B", 4, "999.9 kB"),
        (0, "B/s", 4, "0 B/s"),
        (-2e9, "B", 4, "-2 GB"),
        (1.41e-6, "s", 3, "1.41 µs"),
        (5e-15, "s", 3, "0.005 ps"),
        (1234.5, "s", 4, "1234 s"),  # large prefixes make no sense for seconds
        (295.343, "FLOP/B", 4, "295.3 FLOP/B"),
        (15_705.2, "FLOP/B", 4, "15,705 FLOP/B"),
        (16896, "1", 4, "16,896"),
        (math.inf, "FLOP/B", 4, "∞ FLOP/B"),
    ],
)
def test_text(value, unit, digits, shown):
    assert units.text(value, unit, digits) == shown


def test_text_in_binary():
    assert units.text(228 * 1024, "B", binary=True) == "228 KiB"
    assert units.text(100, "B", binary=True) == "100 B"


def test_text_takes_base_units_only():
    with pytest.raises(ValueError, match=r"unit must be one of .*got 'TFLOP/s'"):
        units.text(1.0, "TFLOP/s")
    with pytest.raises(ValueError, match="digits must be a positive integer; got 0"):
        units.text(1.0, "B", 0)


def test_ticks_are_short():
    shown = [units.tick(10.0**power) for power in range(-3, 14, 2)]
    assert shown == ["0.001", "0.1", "10", "1 k", "100 k", "10 M", "1 G", "100 G", "10 T"]
    assert units.tick(0) == "0"


@given(st.floats(1e-11, 1e17), st.sampled_from(["B", "B/s", "FLOP/s", "FLOP", "OP/s", "J", "W"]))
def test_what_is_written_can_be_read_again(value, unit):
    read, base = units.parse(units.text(value, unit, 12))
    assert base == unit
    assert read == pytest.approx(value, rel=1e-11)


@given(
    st.floats(1e-3, 1e6), st.sampled_from(["TFLOP/s", "GB/s", "KiB", "GiB", "GHz", "ms", "Gb/s"])
)
def test_there_and_back(value, unit):
    amount, base = units.to_base(value, unit)
    assert units.in_unit(amount, base, unit) == pytest.approx(value, rel=1e-15)
    assert type(amount) is float


@given(st.floats(1, 9999), st.integers(0, 15))
def test_conversion_rounds_once(value, power):
    # Multiplying by 1e12 in floating point may round twice; reading the same digits may not.
    value = float(f"{value:.4f}")
    prefix = {0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}.get(power)
    if prefix is not None:
        assert units.to_base(value, prefix + "B")[0] == float(f"{value:.4f}e{power}")


def test_prefixes_agree_with_the_constants():
    for name, constant in [("KB", "kB"), ("MB", "MB"), ("GB", "GB"), ("TB", "TB"), ("PB", "PB")]:
        assert units.to_base(1, constant)[0] == getattr(units, name)
    for name, unit in [("KIB", "KiB"), ("MIB", "MiB"), ("GIB", "GiB"), ("TIB", "TiB")]:
        assert units.to_base(1, unit)[0] == getattr(units, name)
    for name, prefix in zip(("KILO", "MEGA", "GIGA", "TERA", "PETA", "EXA"), "kMGTPE", strict=True):
        assert units.to_base(1, prefix + "FLOP")[0] == getattr(units, name)


def test_numpy_scalars_become_plain_text_and_floats():
    assert units.text(np.float32(2.5e9), "B") == "2.5 GB"
    assert type(units.in_unit(np.float64(1e9), "B", "GB")) is float


def test_every_base_unit_reads_itself():
    for base in units.base_units():
        written = "7" if base == "1" else f"7 {base}"
        assert units.parse(written) == (7.0, base)
        assert re.fullmatch(r"7( \S+)?", units.text(7.0, base))


# ---- commas, microseconds, and numbers that no float holds


@pytest.mark.parametrize(
    ("written", "value"),
    [("1,000 B", 1e3), ("1,234,567.8 B", 1234567.8), ("-12,345e2 B", -1234500.0), ("1_000 B", 1e3)],
)
def test_commas_group_thousands(written, value):
    assert units.parse(written)[0] == value


@pytest.mark.parametrize(
    "written", ["1,5 TB/s", "1,,5 GB", "1,2,3 B", "0,500 B", "1,0000 B", "1234,567 B", "1, B"]
)
def test_a_comma_that_groups_nothing_is_refused(written):
    with pytest.raises(ValueError, match=r"^text must .*write a decimal comma as a point\); got"):
        units.parse(written)


@given(st.integers(0, 10**14))
def test_grouped_digits_are_read_as_such(n):
    assert units.parse(f"{n:,} B") == (float(n), "B")


def test_a_greek_mu_is_the_micro_sign():
    assert units.parse("3 \u03bcs") == units.parse("3 \u00b5s") == (3e-6, "s")
    assert units.in_unit(3e-6, "s", "\u03bcs") == pytest.approx(3)


@pytest.mark.parametrize("written", ["1e99999999999 B", "9e999999999999999999 TB", "1" * 400])
def test_a_number_that_no_float_holds_is_refused(written):
    with pytest.raises(ValueError, match=r"^text must be a number that a float can hold; got"):
        units.parse(written)


@pytest.mark.parametrize(
    "value", [None, "abc", "12", True, 1j, np.ones(2), [1], np.array("a"), object()]
)
@pytest.mark.parametrize(
    "convert",
    [
        lambda x: units.text(x, "B"),
        lambda x: units.number(x),
        lambda x: units.in_unit(x, "B", "kB"),
        lambda x: units.to_base(x, "kB"),
        lambda x: units.tick(x),
    ],
)
def test_what_is_no_number_cannot_be_converted(convert, value):
    with pytest.raises(ValueError, match=r"^value must be a (finite )?number; got"):
        convert(value)


def test_a_conversion_that_leaves_the_floats_is_refused():
    with pytest.raises(ValueError, match=r"^value must leave the amount in B finite; got 1e"):
        units.to_base(1e308, "TB")
    with pytest.raises(ValueError, match=r"^value must leave the amount in ms finite; got 1e"):
        units.in_unit(1e308, "s", "ms")
    for unit in (["B"], np.array(["B", "B"]), None):
        with pytest.raises(ValueError, match=r"^unit must be"):
            units.text(1.0, unit)


def test_digits_are_those_of_a_float():
    assert units.number(1 / 3, 17) == "0.33333333333333331"
    for digits in (0, 18, 2**63, 2.0):
        with pytest.raises(ValueError, match=r"^digits must be"):
            units.number(1, digits)
        with pytest.raises(ValueError, match=r"^digits must be"):
            units.text(1, "B", digits)
