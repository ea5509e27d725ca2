"""What the systolic array refuses, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from primer import systolic
from primer.systolic import count, simulate

ARRAY = {"rows": 4, "cols": 4, "dataflow": "os"}
A, B = np.ones((3, 2)), np.ones((2, 5))


class Stubborn:
    """An array of another library that will not become one of NumPy, as tensors with gradients."""

    shape = ()

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("use .detach() first")

    def __repr__(self):
        raise RuntimeError("no text either")

    @classmethod
    def many(cls):
        return [cls()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 0}, "m must be a positive integer; got 0"),
        ({"n": -3}, "n must be a positive integer; got -3"),
        ({"k": 2.0}, "k must be a positive integer; got 2.0"),
        ({"m": True}, "m must be a positive integer; got True"),
        ({"m": "4"}, "m must be a positive integer; got '4'"),
        ({"m": math.nan}, "m must be a positive integer; got nan"),
        ({"m": 10**20}, "m must be at most 1,000,000,000,000,000"),
        ({"m": []}, r"m must not be empty; got \[\]"),
        ({"m": [1, 0]}, "m must be a positive integer; got 0"),
        ({"m": [1.5]}, "m must be an integer or an array of integers"),
        ({"m": [[1, 2], [3]]}, "m must be an integer or an array of integers"),
        ({"m": [1, 2], "n": [1, 2, 3]}, r"arrays must broadcast to one shape; got m \(2,\)"),
        ({"rows": 0}, "rows must be a positive integer; got 0"),
        ({"cols": None}, "cols must be a positive integer; got None"),
        ({"dataflow": "rs"}, "dataflow must be one of os, ws, is .*; got 'rs'"),
        ({"dataflow": None}, "dataflow must be one of os, ws, is; got None"),
        ({"edges": "cut"}, "edges must be one of full, clipped.*; got 'cut'"),
        ({"drain": 1}, "drain must be True or False; got 1"),
        ({"double_buffer": "yes"}, "double_buffer must be True or False; got 'yes'"),
        ({"bandwidth_words_per_cycle": 0}, "bandwidth_words_per_cycle must be positive; got 0"),
        ({"bandwidth_words_per_cycle": -1}, "bandwidth_words_per_cycle must be positive; got -1"),
        ({"bandwidth_words_per_cycle": math.nan}, "bandwidth_words_per_cycle must be .*; got nan"),
        ({"bandwidth_words_per_cycle": [1, 0]}, "bandwidth_words_per_cycle must be positive"),
        ({"bandwidth_words_per_cycle": 1e-300}, r"leave less than 4.6e\+18 PE-cycles"),
        ({"m": 10**15, "n": 10**15, "k": 10**15}, r"leave less than 4.6e\+18 PE-cycles"),
        ({"rows": 10**10, "cols": 10**10}, r"rows and cols must leave less than 4.6e\+18"),
        ({"bandwidth_words_per_cycle": [5e-324, 1]}, r"leave less than 4.6e\+18 PE-cycles"),
        ({"m": Stubborn.many()}, "m must be an integer or an array of integers; got an object"),
        ({"k": np.ma.array([1, 2], mask=[0, 1])}, "k must have no masked element; got an array"),
    ],
)
def test_count_refuses(change, message):
    arguments = {"m": 3, "n": 5, "k": 2, **ARRAY} | change
    with pytest.raises(ValueError, match=message):
        count(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": A}, r"b must have as many rows as a has columns, 2; got an array of shape \(3, 2\)"),
        ({"a": np.ones((0, 2))}, r"a must not be empty; got an array of shape \(0, 2\)"),
        ({"a": np.ones((3, 0)), "b": np.ones((0, 5))}, "a must not be empty"),
        ({"a": [1, 2]}, "a must be a matrix of real numbers"),
        ({"a": 5}, "a must be a matrix of real numbers; got 5"),
        ({"a": np.ones((1, 3, 2))}, "a must be a matrix of real numbers"),
        ({"a": [[1, 2], [3]]}, "a must be a matrix of real numbers"),
        ({"b": [["1"], ["2"]]}, "b must be a matrix of real numbers"),
        ({"b": [[1j], [2]]}, "b must be a matrix of real numbers"),
        ({"b": [[True], [False]]}, "b must be a matrix of real numbers"),
        ({"b": None}, "b must be a matrix of real numbers; got None"),
        ({"a": [[10**400, 1]]}, "a must be a matrix of real numbers"),
        ({"a": [[math.nan, 1]]}, "a must be finite in every element; got nan"),
        ({"b": [[1], [-math.inf]]}, "b must be finite in every element; got -inf"),
        ({"a": [[1e200, 1]], "b": [[1e200], [1]]}, "a and b must be small enough for every sum"),
        ({"rows": [2, 3]}, r"rows must be a positive integer; got \[2, 3\]"),
        ({"bandwidth_words_per_cycle": [1, 2]}, "bandwidth_words_per_cycle must be one number"),
        ({"record": "busy"}, "record must be a sequence of some of a, b, partial_sum"),
        ({"record": None}, "record must be a sequence of some of a, b, partial_sum"),
        ({"record": ("c",)}, r"record\[0\] must be one of a, b, partial_sum, shadow, busy"),
        ({"dataflow": "xs"}, "dataflow must be one of os, ws, is"),
        ({"a": Stubborn()}, "a must be a matrix of real numbers; got an object of"),
        ({"a": np.ma.array(A, mask=A > 0)}, r"a must have no masked element; got an array of"),
        ({"b": B * np.longdouble("1e4000")}, "b must be finite in every element; got inf"),
        ({"a": B.astype(object).T}, "a must be a matrix of real numbers; got an array"),
    ],
)
def test_simulate_refuses(change, message):
    arguments = {"a": A, "b": B, **ARRAY} | change
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)


def test_what_is_too_large_is_refused_before_any_memory_is_taken():
    a, b = np.ones((1024, 768)), np.ones((768, 3072))
    large = {"rows": 128, "cols": 128, "dataflow": "ws"}
    with pytest.raises(ValueError, match="record must take at most MOST_RECORD_BYTES") as told:
        simulate(a, b, **large)
    # four records of 8 bytes and one of 1, of all PEs and the edges that feed them
    assert str(told.value).endswith(f"got {202_464 * 129 * 129 * 33}")
    assert "`count` gives the numbers without a run" in str(told.value)
    with pytest.raises(ValueError, match="MOST_RECORD_BYTES"):
        simulate(a, b, **large, record=("busy",))
    wide = {"rows": 40_000, "cols": 40_000, "dataflow": "os", "record": ()}
    with pytest.raises(ValueError, match="MOST_PE_CYCLES = 8,589,934,592 and MOST_CYCLES"):
        simulate(A, B, **wide)
    tall, flat, one = np.ones((11_000, 1)), np.ones((1, 11_000)), {"rows": 1, "cols": 1}
    with pytest.raises(ValueError, match=r"MOST_FOLDS = 1,048,576 folds .*; got 121000000"):
        simulate(tall, flat, **one, dataflow="os", record=())
    slow = {**ARRAY, "record": (), "bandwidth_words_per_cycle": 1e-8}
    with pytest.raises(ValueError, match="MOST_CYCLES = 134,217,728"):
        simulate(A, B, **slow)


def test_numbers_of_other_kinds_are_welcome():
    run = simulate(A.astype(np.float32), [[1, 2], [3, 4]], rows=np.int64(2), cols=2, dataflow="os")
    assert run.product.tolist() == [[4, 6]] * 3
    assert type(run.n_cycles) is type(run.n_macs) is int
    found = count(np.int32(3), 5, 2, **ARRAY, bandwidth_words_per_cycle=np.float32(4))
    assert type(found.n_cycles) is int
    assert found.n_cycles == count(3, 5, 2, **ARRAY, bandwidth_words_per_cycle=4).n_cycles
    assert count(range(1, 4), 5, 2, **ARRAY).n_macs.tolist() == [10, 20, 30]
    assert systolic.RECORDS == ("a", "b", "partial_sum", "shadow", "busy")
