"""Predictions for a GPU, their seal, and the measurement after them, on a device that is played."""

import dataclasses
import re
import statistics

import pytest

from primer import hardware
from primer.quantities import Quantity
from primer.workbench import _gpu_device, _gpu_log, _gpu_predictions, gpu_check
from primer.workbench._gpu_device import UnavailableError
from primer.workbench._gpu_log import LogRow

H200 = "h200_sxm_141gb"
ABOUT = {"device": "NVIDIA H200", "n_sms": 132, "memory_bytes": 150_754_820_096}


class Played:
    """A device that is slower than predicted by a factor, with a little spread."""

    def __init__(self, prediction, *, slower=1.25, without=(), about=ABOUT):
        self.values = {(row.experiment, *row.parameters.values()): row for row in prediction.rows}
        self.slower, self.without, self.about_values = slower, without, about
        self.asked = []

    def about(self):
        return dict(self.about_values)

    def now(self):
        return {"driver_version": "580.1", "clocks.sm": f"{1900 + len(self.asked)} MHz"}

    def run(self, experiment, **parameters):
        self.asked.append((experiment, parameters))
        if experiment in self.without:
            raise self.without[experiment]
        row = self.values[(experiment, *parameters.values())]
        factor = self.slower if row.quantity == "time_s" else 1 / self.slower
        return [row.predicted * factor * spread for spread in (0.9, 1.0, 1.2)]


@pytest.fixture(scope="module")
def prediction():
    return gpu_check.predict(H200)


def found(log, experiment, **parameters):
    return [
        row
        for row in log.rows
        if row.experiment == experiment and parameters.items() <= row.parameters.items()
    ]


# ---- what is predicted


def test_five_experiments_are_predicted(prediction):
    names = list(dict.fromkeys(row.experiment for row in prediction.rows))
    assert names == ["copy", "matmul", "staircase", "l2_read", "small_kernels"]
    assert [row.parameters["m"] for row in found(prediction, "matmul")] == [2**e for e in range(12)]
    assert [row.parameters["m"] for row in found(prediction, "staircase")] == [
        128 * i for i in range(1, 25)
    ]
    assert prediction.notes == ()
    assert all(row.measured is None and row.n_repeats == 0 for row in prediction.rows)


def test_a_copy_by_hand(prediction):
    """H200: 700 cycles at 1.98 GHz are 353.5 ns. 8 warps with one line of 128 B each in flight, on
    132 multiprocessors, read 135,168 B in that time: 382.3 GB/s, and write as much: 764.7 GB/s.
    Twice the loads, twice the rate, until 88 % of 4.8 TB/s (1.794 / 2.039) is reached."""
    by_loads = {
        (row.parameters["n_warps_per_sm"], row.parameters["floats_per_thread"]): row.predicted
        for row in found(prediction, "copy")
    }
    assert by_loads[8, 1] == pytest.approx(764.7e9, rel=1e-4)
    assert by_loads[8, 2] == pytest.approx(2 * 764.7e9, rel=1e-4)
    assert by_loads[32, 1] == pytest.approx(by_loads[8, 4])
    assert by_loads[32, 8] == pytest.approx(4.8e12 * 1.794 / 2.039)
    assert max(by_loads.values()) == by_loads[8, 8]


def test_the_one_matmul_by_hand(prediction):
    """T = 1: weights, one row in, one row out are 4,726,272 B, at 4.8 TB/s · 0.8798 in 1.119 µs;
    with the gap of 1.3 µs between kernels 2.42 µs. T = 1024: 192 tiles of 128 × 128 in two waves,
    each as long as 25.17 MFLOP at 989.4 / 132 TFLOP/s, 3.357 µs: 6.715 + 1.3 µs."""
    times = {row.parameters["m"]: row.predicted for row in found(prediction, "matmul")}
    assert times[1] == pytest.approx(2.419e-6, rel=1e-3)
    assert times[1024] == pytest.approx(8.015e-6, rel=1e-3)
    assert times[1] < times[64] < times[128] == times[512] < times[1024] < times[2048]


def test_the_staircase_steps_after_132_tiles(prediction):
    """Twelve tiles a row: 11 rows of tiles are 132, one wave; 23 rows are 276, three waves."""
    stairs = {row.parameters["m"] // 128: row.predicted for row in found(prediction, "staircase")}
    wave = 2 * 128 * 128 * 4096 / (989.4e12 / 132)
    for n_tiles_m, time in stairs.items():
        n_waves = -(-12 * n_tiles_m // 132)
        assert time == pytest.approx(1.3e-6 + n_waves * wave, rel=1e-6)
    assert stairs[12] > 1.9 * stairs[11]
    assert stairs[22] == pytest.approx(stairs[12])


def test_the_cache_and_the_launches_by_hand(prediction):
    """A queue of 120: 120 times 5 µs of the host, and one last gap of 2.5 µs. A graph: one launch
    and 120 gaps of 1.3 µs."""
    (cache,) = found(prediction, "l2_read")
    assert cache.predicted == 9.7e12
    assert cache.parameters["size_bytes"] == 25_000_000
    times = {row.parameters["mode"]: row.predicted for row in found(prediction, "small_kernels")}
    assert times["eager"] == pytest.approx(602.5e-6)
    assert times["graph"] == pytest.approx(161e-6)


@pytest.mark.parametrize("chip", [c for c in hardware.names() if hardware.load(c).kind == "gpu"])
def test_every_gpu_is_predicted_or_says_why_not(chip):
    if hardware.load(chip).vendor != "NVIDIA":
        with pytest.raises(ValueError, match="chip must be a GPU of NVIDIA"):
            gpu_check.predict(chip)
        return
    log = gpu_check.predict(chip)
    told = {row.experiment for row in log.rows} | {note.split(":")[0] for note in log.notes}
    assert told == set(_gpu_predictions.EXPERIMENTS)
    assert all(0 < row.predicted < float("inf") for row in log.rows)
    peak = hardware.load(chip).bandwidth_bytes_per_s
    assert all(row.predicted < peak for row in found(log, "copy"))


def test_a_t4_multiplies_in_fp16_and_has_no_published_latency():
    log = gpu_check.predict("t4")
    assert {row.parameters["storage"] for row in found(log, "matmul")} == {"fp16"}
    assert "copy: not predicted, T4 has no latency of its memory" in log.notes


def test_the_numbers_of_others_have_sources():
    for name in _gpu_predictions._BOUNDS:
        number = _gpu_predictions.number(name)
        assert isinstance(number, Quantity)
        assert number.source.address.startswith("https://")
        bounds = _gpu_predictions._BOUNDS[name]
        for factor in (1e-3, 1e3):  # a wrong prefix would be noticed
            assert not bounds.low <= number.value * factor <= bounds.high


@pytest.mark.parametrize(
    ("chip", "message"),
    [
        ("h20", "chip must be one of"),
        ("tpu_v5e", "chip must be a GPU of NVIDIA; got 'tpu_v5e'"),
        (7, "chip must be one of"),
    ],
)
def test_an_unknown_chip_is_refused(chip, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        gpu_check.predict(chip)


# ---- the measurement


def test_a_measurement_adds_medians_ranges_and_circumstances(prediction):
    device = Played(prediction)
    log = gpu_check.measure(prediction, device)
    assert [name for name, _ in device.asked] == [row.experiment for row in prediction.rows]
    assert log.prediction_seal == prediction.seal
    assert log.about["before"]["clocks.sm"] == "1900 MHz"
    assert log.about["after"]["clocks.sm"] == "1947 MHz"
    assert log.about["predicted"] == prediction.time <= log.time
    for row, before in zip(log.rows, prediction.rows, strict=True):
        assert row.predicted == before.predicted
        assert row.lowest < row.measured < row.highest
        assert row.n_repeats == 3


def test_errors_are_shares_of_what_was_measured(prediction):
    """All times a quarter longer: predicted / measured - 1 = -20 %. All rates lower by a quarter:
    +25 %. 38 times and 9 rates: the median is 20 %, the worst 25 %."""
    log = gpu_check.measure(prediction, Played(prediction))
    by_name = {e.experiment: e for e in gpu_check.errors(log)}
    assert by_name["matmul"].median_frac == pytest.approx(0.2)
    assert by_name["copy"].worst_frac == pytest.approx(0.25)
    assert by_name["all"].n_rows == 47
    assert by_name["all"].median_frac == pytest.approx(0.2)
    assert by_name["all"].worst_frac == pytest.approx(0.25)
    assert list(by_name)[-1] == "all"
    assert {row.error_frac < 0 for row in log.rows if row.quantity == "time_s"} == {True}


@pytest.mark.parametrize("use", [gpu_check.errors, gpu_check.report])
@pytest.mark.parametrize("other", [None, "log", 3])
def test_what_is_no_log_is_refused(use, other):
    with pytest.raises(ValueError, match=r"^log must be a Log of predictions or measurements; got"):
        use(other)


def test_errors_by_hand():
    def row(predicted, measured):
        return LogRow(
            experiment="matmul", quantity="time_s", parameters={}, predicted=predicted,
            measured=measured, lowest=measured, highest=measured, n_repeats=1,
        )  # fmt: skip

    log = gpu_check.predict(H200)
    log = dataclasses.replace(log, rows=(row(1.0, 2.0), row(3.0, 2.0), row(9.0, 10.0)))
    (one, everything) = gpu_check.errors(log)
    # -50 %, +50 %, -10 %
    assert (one.n_rows, one.median_frac, one.worst_frac) == (3, 0.5, 0.5)
    assert everything.median_frac == statistics.median((0.5, 0.5, 0.1))
    assert gpu_check.errors(gpu_check.predict(H200)) == ()


def test_an_experiment_that_fails_costs_no_other(prediction):
    without = {"copy": UnavailableError("Numba is not installed"), "l2_read": RuntimeError("lost")}
    log = gpu_check.measure(prediction, Played(prediction, without=without))
    assert all(row.measured is None for row in found(log, "copy"))
    assert all(row.measured is not None for row in found(log, "matmul"))
    assert log.notes == (
        "copy: not measured, Numba is not installed",
        "l2_read: failed, RuntimeError: lost",
    )
    assert "copy" not in {e.experiment for e in gpu_check.errors(log)}


@pytest.mark.parametrize(
    ("chip", "name", "n_sms", "memory_bytes"),
    [
        (H200, "NVIDIA H200", 132, 150_754_820_096),
        ("h100_sxm5_80gb", "NVIDIA H100 80GB HBM3", 132, 85_000_000_000),
        ("a100_sxm4_40gb", "NVIDIA A100-SXM4-40GB", 108, 42_300_000_000),
        ("t4", "Tesla T4", 40, 15_600_000_000),
        ("rtx_4090", "NVIDIA GeForce RTX 4090", 128, 25_300_000_000),
    ],
)
def test_the_right_chip_is_recognized(chip, name, n_sms, memory_bytes):
    about = {"device": name, "n_sms": n_sms, "memory_bytes": memory_bytes}
    log = gpu_check.predict(chip)
    assert gpu_check.measure(log, Played(log, about=about)).kind == "measurement"


@pytest.mark.parametrize(
    "about",
    [
        ABOUT | {"device": "NVIDIA H100 80GB HBM3"},
        ABOUT | {"device": "NVIDIA GH200 480GB"},
        ABOUT | {"n_sms": 114},
        ABOUT | {"memory_bytes": 85_000_000_000},
        {"device": "cpu", "n_sms": 2},
    ],
)
def test_a_log_of_another_chip_is_refused(prediction, about):
    device = Played(prediction, about=about)
    with pytest.raises(ValueError, match="device must be the predicted chip, H200 SXM 141 GB"):
        gpu_check.measure(prediction, device)
    assert device.asked == []


def test_only_a_prediction_can_be_measured(prediction):
    measured = gpu_check.measure(prediction, Played(prediction))
    for other in (measured, None, "h200"):
        with pytest.raises(ValueError, match="prediction must be a log of predictions"):
            gpu_check.measure(other, Played(prediction))


def test_without_a_gpu_it_says_so(prediction, monkeypatch):
    monkeypatch.setattr(_gpu_device._cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device must be a GPU that torch can use"):
        gpu_check.measure(prediction)


# ---- the commands


def run(*arguments, device=None):
    return gpu_check.main([str(a) for a in arguments], device)


def test_predict_measure_report(tmp_path, capsys):
    first, second = tmp_path / "p.json", tmp_path / "m.json"
    assert run("predict", H200, "--out", first) == 0
    said = capsys.readouterr().out
    prediction = _gpu_log.read(first, "prediction")
    assert f"sealed {prediction.seal}" in said
    assert "| copy | floats_per_thread 1, n_warps_per_sm 8 | 765 GB/s | - | - | - |" in said
    assert run("measure", first, "--out", second, device=Played(prediction)) == 0
    capsys.readouterr()
    assert run("report", second) == 0
    said = capsys.readouterr().out
    assert said.startswith("# H200 SXM 141 GB: measurement")
    assert f"- seal of the prediction: {prediction.seal}" in said
    assert "- before: driver_version 580.1, clocks.sm 1900 MHz" in said
    assert "| matmul | m 1024, n 3072, k 768, storage bf16 | 8.01 µs | 10 µs |" in said
    assert "| -20.0% |" in said
    assert "| all | 47 | 20.0% | 25.0% |" in said
    assert sorted(tmp_path.iterdir()) == [second, first]


def test_a_name_is_found_where_none_is_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("predict", H200) == 0
    (made,) = tmp_path.iterdir()
    assert re.fullmatch(rf"gpu-check-{H200}-[-0-9TZ]+\.prediction\.json", made.name)
    assert made.name in capsys.readouterr().out


def test_the_commands_refuse_with_a_message(tmp_path, capsys):
    path = tmp_path / "p.json"
    assert run("predict", H200, "--out", path) == 0
    log = _gpu_log.read(path, "prediction")
    (tmp_path / "taken.json").write_text("mine")
    (tmp_path / "wrong.json").write_text("{}")
    other = Played(log, about=ABOUT | {"device": "NVIDIA B200"})
    device = Played(log)
    for arguments, given, message in (
        (("measure", tmp_path / "no.json"), device, "log must be a file with a prediction"),
        (("measure", tmp_path / "wrong.json"), device, "schema must be 1"),
        (("measure", path, "--out", tmp_path / "taken.json"), device, "log must be a new file"),
        (("measure", path, "--out", tmp_path / "m.json"), other, "device must be the predicted"),
        (("report", path), None, "log must be a measurement; got 'prediction'"),
        (("predict", H200, "--out", path), None, "log must be a new file"),
        (("predict", "h2000", "--out", tmp_path / "x.json"), None, "chip must be one of"),
    ):
        assert run(*arguments, device=given) == 2
        assert f"error: {message}" in capsys.readouterr().err
    assert device.asked == []
    assert (tmp_path / "taken.json").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 3
