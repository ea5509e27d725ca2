"""Links: rates one way, against arithmetic on lanes and against the chips' own tables."""

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _tables, hardware, links

RAW = _tables.read(links.FILE)
ALL = [links.load(name) for name in links.names()]


# ---- values, read by a person from the sources named in the file


@pytest.mark.parametrize(
    ("name", "oneway"),
    [
        ("nvlink1", 80e9), ("nvlink2", 150e9), ("nvlink3", 300e9), ("nvlink4", 450e9),
        ("nvlink5", 900e9), ("nvlink6", 1500e9), ("pcie3_x16", 15.75e9), ("pcie4_x16", 31.5e9),
        ("pcie5_x16", 63e9), ("pcie6_x16", 121e9), ("pcie7_x16", 242e9), ("cxl2_x16", 64e9),
        ("cxl3_x16", 128e9), ("infinity_frontier_host", 36e9), ("infinity_mi250x", 50e9),
        ("infinity_mi250x_in_package", 200e9), ("infinity_mi300x", 448e9),
        ("infinity_mi350x", 535.5e9), ("ici_v4", 270e9), ("ici_v5e", 200e9), ("ici_v5p", 600e9),
        ("ici_v6e", 400e9), ("ici_v7", 600e9), ("infiniband_edr", 12.5e9),
        ("infiniband_hdr", 25e9), ("infiniband_ndr", 50e9), ("infiniband_xdr", 100e9),
        ("ethernet_100g", 12.5e9), ("ethernet_200g", 25e9), ("ethernet_400g", 50e9),
        ("ethernet_800g", 100e9),
    ],
)  # fmt: skip
def test_rates_one_way(name, oneway):
    found = links.load(name)
    assert found.oneway_bytes_per_s == oneway
    assert found.twoway_bytes_per_s == 2 * oneway


def test_what_product_pages_print_is_twice_as_much():
    # 900 GB/s of NVLink 4, 1.8 TB/s of NVLink 5, 400 GB/s of a v5e chip
    printed = {"nvlink4": 900e9, "nvlink5": 1.8e12, "ici_v5e": 400e9, "ici_v7": 1.2e12}
    assert {name: links.load(name).twoway_bytes_per_s for name in printed} == printed
    assert "900" in links.load("nvlink4").oneway.note


def test_measured_shares():
    # 396.4 / 450 = 88 %; 55.4 / 63 = 88 %; 46 / 50 = 92 %
    assert links.load("nvlink4").measured_frac == pytest.approx(0.88, abs=0.002)
    assert links.load("pcie5_x16").measured_frac == pytest.approx(0.88, abs=0.002)
    assert links.load("infiniband_ndr").measured_frac == pytest.approx(0.92)
    assert links.load("nvlink3").measured_frac is None


# ---- second methods


@pytest.mark.parametrize(
    ("name", "gigatransfers"), [("pcie3_x16", 8), ("pcie4_x16", 16), ("pcie5_x16", 32)]
)
def test_pcie_is_lanes_times_transfers(name, gigatransfers):
    raw = gigatransfers * 1e9 * 16 / 8
    found = links.load(name)
    assert found.raw.value == raw
    assert found.oneway_bytes_per_s == pytest.approx(raw * 128 / 130, rel=1e-3)


@pytest.mark.parametrize(("chip", "kind", "name"), [
    ("v100_sxm2_32gb", "nvlink", "nvlink2"), ("a100_sxm4_80gb", "nvlink", "nvlink3"),
    ("h100_sxm5_80gb", "nvlink", "nvlink4"), ("h100_sxm5_80gb", "pcie", "pcie5_x16"),
    ("tpu_v5e", "ici", "ici_v5e"),
])  # fmt: skip
def test_chips_and_generations_agree(chip, kind, name):
    assert hardware.load(chip).link(kind).oneway_bytes_per_s == links.load(name).oneway_bytes_per_s


def test_mi300x_agrees_with_its_chip():
    fabric = hardware.load("mi300x").links[0]
    assert fabric.oneway_bytes_per_s == links.load("infinity_mi300x").oneway_bytes_per_s


@pytest.mark.parametrize("name", [*links.names("infiniband"), *links.names("ethernet")])
def test_adapters_are_bits_over_eight(name):
    found = links.load(name)
    gigabits = re.search(r"(\d+) Gb/s", f"{found.title} {found.devices}").group(1)
    assert found.oneway_bytes_per_s == int(gigabits) * 1e9 / 8


# ---- properties


@pytest.mark.parametrize("link", ALL, ids=lambda link: link.id)
def test_rows_are_complete(link):
    assert "one way" in link.oneway.convention
    assert link.oneway.source.address.startswith("https://")
    assert link.id in links.names(link.family)
    assert link.id in repr(link)
    assert links.load(link.id) is link


@pytest.mark.parametrize("family", ["nvlink", "pcie", "cxl", "infiniband", "ethernet"])
def test_generations_get_faster(family):
    rates = [links.load(name).oneway_bytes_per_s for name in links.names(family)]
    assert rates == sorted(set(rates))


@given(st.sampled_from(ALL), st.floats(1, 1e15))
def test_a_transfer_takes_twice_the_time_that_the_printed_sum_promises(link, size_bytes):
    assert size_bytes / link.oneway_bytes_per_s == pytest.approx(
        2 * size_bytes / link.twoway_bytes_per_s
    )


def test_conflicts_are_told():
    assert "3.6 TB/s" in links.load("nvlink6").oneway.note
    assert "45" in links.load("ici_v5e").oneway_per_link.note


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: links.load("nvlink_4"), "link must be one of .*mean 'nvlink4'.*got 'nvlink_4'"),
        (lambda: links.load(4), "link must be one of .*got 4"),
        (lambda: links.names("nvlnk"), "family must be one of .*mean 'nvlink'.*got 'nvlnk'"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _changed(link, field=None, **changes):
    row = copy.deepcopy(RAW["link"][link])
    (row if field is None else row[field]).update(changes)
    return links.build(link, row, RAW["defaults"])


FIELDS = [
    (name, field)
    for name, row in RAW["link"].items()
    for field in ("oneway", "oneway_per_link", "raw", "measured")
    if field in row
]


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_a_wrong_prefix_does_not_pass(name, field, factor):
    value = RAW["link"][name][field]["value"] * factor
    with pytest.raises(ValueError, match=rf"^links.toml: link.{name}.{field}.value must lie betw"):
        _changed(name, field, value=value)


@pytest.mark.parametrize(
    ("field", "changes", "message"),
    [
        ("oneway", {"value": 900}, r"oneway must be n_links times oneway_per_link \(4.5e\+11\)"),
        ("oneway", {"convention": "all links"}, "oneway.convention must say 'one way'"),
        ("oneway", {"unit": "Gb/s"}, "oneway.unit must measure B/s; got 'Gb/s'"),
        ("measured", {"value": 783.7}, r"measured must not exceed oneway \(4.5e\+11\)"),
        (None, {"n_links": 1.8}, "n_links must be a positive integer; got 1.8"),
        (None, {"n_links": 12}, "oneway must be n_links times"),
        (None, {"family": "nvswitch"}, "family must be one of .*got 'nvswitch'"),
        (None, {"bandwidth": {}}, "key must be one of .*got 'bandwidth'"),
        (None, {"title": ""}, "title must be a text"),
        (None, {"raw": {"value": 400, "convention": "one way"}}, "raw must be at least oneway"),
    ],
)
def test_slips_in_the_file_are_named(field, changes, message):
    with pytest.raises(ValueError, match=rf"^links.toml: link.nvlink4.*{message}"):
        _changed("nvlink4", field, **changes)


def test_a_link_without_a_rate_is_refused():
    with pytest.raises(ValueError, match="oneway must be there; got None"):
        links.build("x", {"family": "nvlink", "title": "x", "devices": "y"}, RAW["defaults"])
    row = {key: v for key, v in RAW["link"]["nvlink4"].items() if key != "oneway_per_link"}
    with pytest.raises(ValueError, match="n_links must come together with oneway_per_link"):
        links.build("nvlink4", row, RAW["defaults"])
