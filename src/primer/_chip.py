"""The shape of a chip: roofs, memory levels, links. `primer.hardware` is the door to all of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from primer import _checks
from primer.quantities import OWN, Fact, Quantity, Source

PRECISIONS = (
    "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4",
)  # fmt: skip
UNIT_KINDS = ("matrix", "vector")
FAMILIES = (
    "NVIDIA data-center GPU", "NVIDIA inference or consumer GPU", "AMD data-center GPU",
    "Google TPU", "other accelerator", "CPU", "Apple SoC",
)  # fmt: skip


class UnknownPeakError(ValueError, AttributeError):
    """A precision that a chip lacks; an AttributeError too, so that `hasattr` works."""


@dataclass(frozen=True, kw_only=True)
class Peak:
    """One roof: a precision, the kind of unit that computes it, and the rate."""

    compute: str
    unit: str
    rate: Quantity


@dataclass(frozen=True)
class Peaks:
    """The roofs of one chip; ``peaks.bf16`` and ``peaks["bf16"]`` are the default unit's.

    The default is the matrix unit where the chip has one for that precision.

    Examples
    --------
    >>> peaks = Chip.custom(
    ...     "demo", peak_flop_per_s={"fp64": 2e13, "bf16": 3e14}, bandwidth_bytes_per_s=2e12
    ... ).peak
    >>> str(peaks.fp64), str(peaks["bf16"]), peaks.precisions()
    ('20 TFLOP/s', '300 TFLOP/s', ('fp64', 'bf16'))
    """

    chip_name: str
    kind: str
    entries: tuple[Peak, ...]

    def precisions(self) -> tuple[str, ...]:
        """The precisions that have a rate, in the book's order."""
        known = {e.compute for e in self.entries if e.rate.is_published}
        return tuple(p for p in PRECISIONS if p in known)

    def units(self, compute: str) -> tuple[str, ...]:
        """The kinds of unit that compute this precision, the default first."""
        _checks.one_of("compute", compute, PRECISIONS)
        known = {e.unit for e in self.entries if e.compute == compute and e.rate.is_published}
        return tuple(kind for kind in UNIT_KINDS if kind in known)

    def find(self, compute: str, unit: str | None = None) -> Quantity:
        """The rate of a precision, on the default unit or the one named.

        Raises
        ------
        ValueError
            If the precision or unit is unknown, or this chip has no rate for it.
        """
        kinds = self.units(compute)
        if not kinds:
            have = ", ".join(self.precisions()) or "none"
            rule = f"have a {self.kind} peak on {self.chip_name} (it has {have})"
            _checks.fail("compute", rule, compute)
        if unit is None:
            unit = kinds[0]
        elif _checks.one_of("unit", unit, UNIT_KINDS) not in kinds:
            rule = f"be {' or '.join(kinds)} for {compute} on {self.chip_name}"
            _checks.fail("unit", rule, unit)
        return next(e.rate for e in self.entries if (e.compute, e.unit) == (compute, unit))

    def __getitem__(self, compute: str) -> Quantity:
        return self.find(compute)

    def __getattr__(self, compute: str) -> Quantity:
        if compute.startswith("_") or compute == "entries":
            raise AttributeError(compute)
        try:
            return self.find(compute)
        except ValueError as error:
            raise UnknownPeakError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.precisions())

    def __len__(self) -> int:
        return len(self.precisions())


@dataclass(frozen=True, kw_only=True)
class MemoryLevel:
    """One level of the memory hierarchy.

    Parameters
    ----------
    name : str
        Such as "registers", "l2" or "hbm".
    title : str
        For reading, such as "HBM3".
    scope : str
        "chip", or "core" where every core (SM, CU) has its own.
    capacity : Quantity [B] or None
        Size, per `scope`.
    bandwidth : Quantity [B/s] or None
        Rate of the whole chip.
    latency : Quantity [cycles] or None
        Of one dependent load.
    """

    name: str
    title: str
    scope: str = "chip"
    capacity: Quantity | None = None
    bandwidth: Quantity | None = None
    latency: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class Link:
    """A way out of the chip.

    Parameters
    ----------
    name, title : str
        Such as "nvlink" and "NVLink 4".
    kind : str
        "scale_up" (to chips of its kind) or "host".
    oneway : Quantity [B/s]
        Of all links of this kind together, in one direction.
    oneway_per_link : Quantity [B/s] or None
        Of one of them.
    n_links : Quantity [1] or None
        How many.
    topology : str
        How they are wired.
    """

    name: str
    title: str
    kind: str
    oneway: Quantity
    oneway_per_link: Quantity | None = None
    n_links: Quantity | None = None
    topology: str = ""

    @property
    def oneway_bytes_per_s(self) -> float:
        """Rate in one direction; twice this is what product pages often print."""
        return self.oneway.value


@dataclass(frozen=True, kw_only=True, repr=False)
class Chip:
    """One chip, as its sources describe it.

    Parameters
    ----------
    id, name, vendor, kind, sku : str
        Identifier, name for reading, maker, "gpu", "tpu", "cpu", "npu", "soc", "example" or
        "own", product.
    family : str
        One of `FAMILIES`, for a curve through the years; empty for "example" and "own".
    announced : bool
        Whether the maker has only announced it: its numbers may still change.
    peak, peak_sparse : Peaks [FLOP/s, OP/s]
        Roofs with dense operands; roofs that hold only where half of the operands are zero in a
        2:4 pattern. Integer peaks count operations (OP/s).
    memory : tuple of MemoryLevel
        Nearest first; the last one is the main memory.
    links : tuple of Link
    counts : tuple of Quantity [1, FMA/cycle]
        How many of each part.
    clocks : tuple of Quantity [Hz]
    tdp : Quantity [W] or None
    release : Fact or None
        When it appeared, and what that means, such as its announcement; see `Fact.years`.
    note : str

    Examples
    --------
    >>> own = Chip.custom("mine", peak_flop_per_s={"fp32": 2e12}, bandwidth_bytes_per_s=5e10)
    >>> own.ridge_flop_per_byte("fp32")
    40.0
    """

    id: str
    name: str
    vendor: str
    kind: str
    sku: str
    peak: Peaks
    peak_sparse: Peaks
    memory: tuple[MemoryLevel, ...]
    links: tuple[Link, ...] = ()
    counts: tuple[Quantity, ...] = ()
    clocks: tuple[Quantity, ...] = ()
    tdp: Quantity | None = None
    release: Fact | None = None
    note: str = ""
    family: str = ""
    announced: bool = False

    def __repr__(self) -> str:
        return f"<Chip {self.id or self.kind}: {self.name}>"

    @classmethod
    def custom(
        cls,
        name: str,
        *,
        peak_flop_per_s: Mapping[str, float],
        bandwidth_bytes_per_s: float,
        unit: str = "matrix",
        capacity_bytes: float | None = None,
        status: str = "assumed",
        source: Source | None = None,
    ) -> "Chip":
        """A chip of your own, for a roofline.

        Parameters
        ----------
        name : str
            For reading.
        peak_flop_per_s : mapping of str to float [FLOP/s]
            Dense peak of each precision, by the names in `PRECISIONS`.
        bandwidth_bytes_per_s : float [B/s]
            Of main memory.
        unit : str
            "matrix" or "vector": what these peaks belong to.
        capacity_bytes : float [B], optional
            Of main memory.
        status : str
            "assumed" for numbers typed in, "measured" for numbers of this machine.
        source : Source, optional
            Where they come from; by default they were entered by the reader.

        Raises
        ------
        ValueError
            If a peak or the bandwidth is not positive, a precision unknown, or the source none.
        """
        if not _checks.is_a(name, str) or not name:
            _checks.fail("name", "be a non-empty string", name)
        if not _checks.is_a(peak_flop_per_s, Mapping) or not peak_flop_per_s:
            _checks.fail("peak_flop_per_s", "map at least one precision to a rate", peak_flop_per_s)
        origin = OWN if source is None else source
        if not _checks.is_a(origin, Source):
            _checks.fail("source", "be a Source, or left out", source)
        _checks.one_of("unit", unit, UNIT_KINDS)
        _checks.one_of("status", status, ("assumed", "measured"))

        def quantity(field: str, amount: float, base: str, convention: str = "") -> Quantity:
            value = _checks.positive(field, amount)
            return Quantity(
                name=field, amount=value, unit=base, convention=convention,
                sku=name, source=origin, status=status,
            )  # fmt: skip

        def peak(compute: str, rate: float) -> Peak:
            _checks.one_of("peak_flop_per_s", compute, PRECISIONS)
            where = f"peak_flop_per_s[{compute!r}]"
            known = quantity(where, rate, rate_unit(compute), f"dense, {unit} units")
            return Peak(compute=compute, unit=unit, rate=known)

        peaks = tuple(peak(compute, rate) for compute, rate in peak_flop_per_s.items())
        slope = quantity("bandwidth_bytes_per_s", bandwidth_bytes_per_s, "B/s")
        size = None if capacity_bytes is None else quantity("capacity_bytes", capacity_bytes, "B")
        main = MemoryLevel(name="main", title="main memory", bandwidth=slope, capacity=size)
        return cls(
            id="", name=name, vendor="", kind="own", sku=name,
            peak=Peaks(name, "dense", peaks), peak_sparse=Peaks(name, "sparse", ()),
            memory=(main,),
        )  # fmt: skip

    def precisions(self) -> tuple[str, ...]:
        """The precisions that have a dense peak, in the book's order."""
        return self.peak.precisions()

    def units(self, compute: str) -> tuple[str, ...]:
        """The kinds of unit with a dense peak for this precision, the default first."""
        return self.peak.units(compute)

    def peak_flop_per_s(self, compute: str, unit: str | None = None) -> float:
        """Dense peak rate, float [FLOP/s] (OP/s for integers); see `Peaks.find` for errors."""
        return self.peak.find(compute, unit).value

    @property
    def has_roofline(self) -> bool:
        """Whether a roofline can be drawn: a dense peak and the main memory's rate are known."""
        main = self.memory[-1].bandwidth
        return bool(self.peak.precisions()) and main is not None and main.is_published

    @property
    def bandwidth(self) -> Quantity:
        """Rate of the main memory; `ValueError` if the table has none."""
        main = self.memory[-1]
        if main.bandwidth is None:
            _checks.fail(f"bandwidth of {self.name}", "be known to compute with it", None)
        return main.bandwidth

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Rate of the main memory, float [B/s]."""
        return self.bandwidth.value

    def ridge_flop_per_byte(self, compute: str, unit: str | None = None) -> float:
        """The intensity at which the roof meets the slope: peak / bandwidth, float [FLOP/B].

        >>> Chip.custom(
        ...     "demo", peak_flop_per_s={"bf16": 1e14}, bandwidth_bytes_per_s=1e12
        ... ).ridge_flop_per_byte("bf16")
        100.0
        """
        slope = self.bandwidth_bytes_per_s
        ridge = self.peak_flop_per_s(compute, unit) / slope
        _checks.keeps_finite("bandwidth_bytes_per_s", slope, ridge_flop_per_byte=ridge)
        return ridge

    def level(self, name: str) -> MemoryLevel:
        """A level of the memory by its name."""
        known = {level.name: level for level in self.memory}
        return known[_checks.one_of("level", name, tuple(known))]

    def link(self, name: str) -> Link:
        """A link by its name."""
        known = {link.name: link for link in self.links}
        return known[_checks.one_of("link", name, tuple(known))]

    def count(self, name: str) -> Quantity:
        """How many of a part there are, such as "sms"."""
        known = {q.name.removeprefix("count."): q for q in self.counts}
        return known[_checks.one_of("count", name, tuple(known))]

    def clock(self, name: str) -> Quantity:
        """A clock rate by its name, such as "matrix_boost"."""
        known = {q.name.removeprefix("clock."): q for q in self.clocks}
        return known[_checks.one_of("clock", name, tuple(known))]

    def quantities(self) -> tuple[Quantity, ...]:
        """Every number of the table, in its order."""
        found: list[Quantity | None] = [e.rate for e in self.peak.entries]
        found += [e.rate for e in self.peak_sparse.entries]
        for level in self.memory:
            found += [level.capacity, level.bandwidth, level.latency]
        for link in self.links:
            found += [link.oneway, link.oneway_per_link, link.n_links]
        found += [*self.counts, *self.clocks, self.tdp]
        return tuple(q for q in found if q is not None)

    def facts(self) -> tuple[Quantity | Fact, ...]:
        """Everything that has a source: the numbers, and the release."""
        return (*self.quantities(), *([] if self.release is None else [self.release]))


def rate_unit(compute: str) -> str:
    """FLOP/s for floating-point precisions, OP/s for integer ones."""
    known = _checks.one_of("compute", compute, PRECISIONS)
    return "OP/s" if known.startswith("int") else "FLOP/s"


def require_chip(chip: object) -> Chip:
    """The chip, if it is one."""
    if not isinstance(chip, Chip):
        _checks.fail("chip", "be a Chip, such as hardware.load('h100_sxm5_80gb')", chip)
    return chip
