"""One sweep along each axis, by plain addition: exact where ε does not depend on datasets (docs/theory/products.md).

A *program* says what to do with a buffer of labels: one row for each step, with the step's operation, the length of the
axis, the distance between neighbours along it, and where its ε stand among the weights. Neighbouring axes of length 2
are done two or three at a time, so that labels are read and written less often.
"""

from __future__ import annotations

from hetdp.problem.space import Floats, Indices

LOW_EIGHT, FOUR, TWO, PATH, MOVES = range(5)  # operations; LOW_EIGHT: the last three axes at once
ON_GRID, LARGEST = range(2)  # what is noted of the start labels: whether they are on it, the bits of the largest
GRID = 2.0**40
INFINITE_BITS = 0x7FF0000000000000
WIDE = 8  # labels of a row that are worth being worked on at once
BIG = 2.0**52  # from here on, all floats are whole


def meet_at(one: float, other: float, epsilon: float) -> tuple[float, float]:
    """Two neighbours, each told what the other allows."""
    bound = (one if one < other else other) + epsilon
    return (one if one < bound else bound), (other if other < bound else bound)


def sweep_blocks(
    start: Floats,
    labels: Floats,
    bits: Indices,
    first: int,
    last: int,
    block: int,
    part: int,
    program: Indices,
    part_steps: int,
    weights: Floats,
    moves: Indices,
    notes: Indices,
) -> None:
    """Copies some blocks of labels and sweeps them along the last axes; the first steps part by part, in the cache.

    Notes whether all start labels were on the grid and not below 0, and the largest of them.
    """
    for number in range(first, last):
        own = labels[number * block : (number + 1) * block]
        given = start[number * block : (number + 1) * block]
        for begin in range(0, block, part):
            place = number * block + begin
            copy_and_look(given[begin : begin + part], own[begin : begin + part], bits[place : place + part], notes)
            if notes[ON_GRID] == 0:
                return
            run(own[begin : begin + part], program, 0, part_steps, weights, moves)
        run(own, program, part_steps, len(program), weights, moves)


def sweep_columns(
    labels: Floats,
    first: int,
    last: int,
    rows: int,
    low: int,
    width: int,
    program: Indices,
    weights: Floats,
    moves: Indices,
    buffer: Floats,
) -> None:
    """Sweeps some columns along axes in the middle: each is brought into a buffer of its own, and put back."""
    across = (low + width - 1) // width
    for number in range(first, last):
        base = number // across * rows * low + number % across * width
        wide = min(width, low - number % across * width)
        for row in range(rows):
            outside = labels[base + row * low : base + row * low + wide]
            inside = buffer[row * width : row * width + wide]
            for at in range(wide):
                inside[at] = outside[at]
        run(buffer, program, 0, len(program), weights, moves)
        for row in range(rows):
            outside = labels[base + row * low : base + row * low + wide]
            inside = buffer[row * width : row * width + wide]
            for at in range(wide):
                outside[at] = inside[at]


def copy_and_look(given: Floats, own: Floats, bits: Indices, notes: Indices) -> None:
    """Copies labels, −0.0 as 0.0, and notes what they are like; `bits` is another view of the copy.

    Floats ≥ 0 are in the order of their bits, and the largest of whole numbers is found for several at once.
    """
    strange, largest = 0, 0
    for at in range(len(given)):
        label = given[at] + 0.0
        own[at] = label
        scaled = label * GRID
        strange += not ((label >= 0.0) & (round_half_even(scaled) == scaled))
    for at in range(len(bits)):
        largest = max(largest, bits[at] if bits[at] < INFINITE_BITS else 0)
    if strange:
        notes[ON_GRID] = 0
    notes[LARGEST] = max(notes[LARGEST], largest)


def round_half_even(number: float) -> float:
    """The nearest whole number of a number ≥ 0."""
    return (number + BIG) - BIG if number < BIG else number


def run(labels: Floats, program: Indices, first: int, last: int, weights: Floats, moves: Indices) -> None:
    """Carries out some steps of a program."""
    for step in range(first, last):
        operation, length, stride = program[step, 0], program[step, 1], program[step, 2]
        begin, end = program[step, 3], program[step, 4]
        if operation == LOW_EIGHT:
            low_eight(labels, weights[begin], weights[begin + 1], weights[begin + 2])
        elif operation == FOUR:
            four(labels, stride, weights[begin], weights[begin + 1])
        elif operation == TWO:
            two(labels, stride, weights[begin])
        elif operation == PATH:
            path(labels, length, stride, weights[begin])
        else:
            along_moves(labels, length, stride, weights[begin:end], moves[begin:end])


def low_eight(labels: Floats, last: float, middle: float, first: float) -> None:
    """The last three axes, of length 2, eight labels at a time."""
    for number in range(len(labels) // 8):
        at = 8 * number
        a, b, c, d = labels[at], labels[at + 1], labels[at + 2], labels[at + 3]
        e, f, g, h = labels[at + 4], labels[at + 5], labels[at + 6], labels[at + 7]
        a, b = meet_at(a, b, last)
        c, d = meet_at(c, d, last)
        e, f = meet_at(e, f, last)
        g, h = meet_at(g, h, last)
        a, c = meet_at(a, c, middle)
        b, d = meet_at(b, d, middle)
        e, g = meet_at(e, g, middle)
        f, h = meet_at(f, h, middle)
        a, e = meet_at(a, e, first)
        b, f = meet_at(b, f, first)
        c, g = meet_at(c, g, first)
        d, h = meet_at(d, h, first)
        labels[at], labels[at + 1], labels[at + 2], labels[at + 3] = a, b, c, d
        labels[at + 4], labels[at + 5], labels[at + 6], labels[at + 7] = e, f, g, h


def four(labels: Floats, stride: int, later: float, earlier: float) -> None:
    """Two neighbouring axes of length 2; `later` is the ε of the one whose positions lie `stride` apart."""
    for begin in range(0, len(labels), 4 * stride):
        piece = labels[begin : begin + 4 * stride]
        one, two_, three = piece[:stride], piece[stride : 2 * stride], piece[2 * stride : 3 * stride]
        four_ = piece[3 * stride :]
        for at in range(stride):
            a, b = meet_at(one[at], two_[at], later)
            c, d = meet_at(three[at], four_[at], later)
            a, c = meet_at(a, c, earlier)
            b, d = meet_at(b, d, earlier)
            one[at], two_[at], three[at], four_[at] = a, b, c, d


def two(labels: Floats, stride: int, epsilon: float) -> None:
    """One axis of length 2."""
    for begin in range(0, len(labels), 2 * stride):
        one, other = labels[begin : begin + stride], labels[begin + stride : begin + 2 * stride]
        for at in range(stride):
            one[at], other[at] = meet_at(one[at], other[at], epsilon)


def path(labels: Floats, length: int, stride: int, epsilon: float) -> None:
    """One axis of counts: up, then down."""
    for begin in range(0, len(labels), length * stride):
        if stride < WIDE:
            narrow_path(labels[begin : begin + length * stride], stride, epsilon)
            continue
        for count in range(1, length):
            row = begin + count * stride
            lower(labels[row - stride : row], labels[row : row + stride], epsilon)
        for count in range(length - 1, 0, -1):
            row = begin + count * stride
            lower(labels[row : row + stride], labels[row - stride : row], epsilon)


def narrow_path(labels: Floats, stride: int, epsilon: float) -> None:
    """The same for rows so short that they are not worth being looked at one by one."""
    for at in range(stride, len(labels)):
        bound = labels[at - stride] + epsilon
        labels[at] = bound if bound < labels[at] else labels[at]
    for at in range(len(labels) - stride - 1, -1, -1):
        bound = labels[at + stride] + epsilon
        labels[at] = bound if bound < labels[at] else labels[at]


def along_moves(labels: Floats, length: int, stride: int, weights: Floats, moves: Indices) -> None:
    """One axis of any kind: all moves (from a position · length + to another), over and over until nothing changes."""
    for begin in range(0, len(labels), length * stride):
        again = True
        while again:
            again = False
            for move in range(len(moves)):
                source = begin + moves[move] // length * stride
                target = begin + moves[move] % length * stride
                if lower(labels[source : source + stride], labels[target : target + stride], weights[move]):
                    again = True


def lower(source: Floats, target: Floats, epsilon: float) -> bool:
    """Tells one row of labels what another allows; whether any label fell."""
    fell = 0
    for at in range(len(source)):
        bound = source[at] + epsilon
        fell += bound < target[at]
        target[at] = bound if bound < target[at] else target[at]
    return fell > 0
