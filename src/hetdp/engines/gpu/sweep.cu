// Kernels of the gpu engine. A label is a whole number of grid units (2^-40), and FAR stands for infinity, so that
// every sum is exact. No label or epsilon is above FAR, so that no sum of two overflows.
//
// Outside this file, `plan.py` says which kernel sweeps which axis, and with which launch.

typedef long long Label;
typedef long long Whole;
typedef unsigned char Byte;

#define FAR (1LL << 61)
#define UNITS 1099511627776.0      // 2^40 units make 1
#define LARGEST_EXACT (1LL << 53)  // units; floats below it hold every label exactly

// Every kernel that treats datasets one by one is launched with any number of blocks, and strides over the rest.
#define EACH(at, size) \
    Whole at = (Whole)blockIdx.x * blockDim.x + threadIdx.x; at < (size); at += (Whole)gridDim.x * blockDim.x

// Conversion -----------------------------------------------------------------------------------------------------------

// Turns floats into labels, in place. Sets notes[0] if one is below 0, off the grid or too large; notes[1] becomes the
// largest finite label.
extern "C" __global__ void read_labels(Label* labels, Whole size, Whole* notes) {
    const double* given = (const double*)labels;
    Label largest = 0;
    for (EACH(at, size)) {
        double units = given[at] * UNITS;
        bool infinite = units > 9e300;
        if (!infinite && !(units >= 0.0 && units < (double)LARGEST_EXACT && rint(units) == units)) {
            notes[0] = 1;
            units = 0.0;
        }
        Label label = infinite ? FAR : (Label)units;
        largest = infinite || label < largest ? largest : label;
        labels[at] = label;
    }
    atomicMax((Whole*)(notes + 1), largest);
}

// Turns labels into floats, in place.
extern "C" __global__ void write_labels(Label* labels, Whole size) {
    double* written = (double*)labels;
    for (EACH(at, size)) {
        Label label = labels[at];
        double far = __longlong_as_double(0x7ff0000000000000LL);
        written[at] = label == FAR ? far : label == -FAR ? -far : (double)label / UNITS;
    }
}

// Turns labels (larger is better) into z, in place: negative where the answer is 2.
extern "C" __global__ void sign_labels(Label* labels, const Byte* answers, Whole size) {
    for (EACH(at, size)) {
        labels[at] = answers[at] == 2 ? -labels[at] : labels[at];
    }
}

// Sets notes[0] if a finite label is too large to be exact as a float, and notes[1] if a pinned label fell.
extern "C" __global__ void check_labels(
    const Label* labels, const Label* start, const Byte* roles, Whole has_roles, Whole size, Whole* notes) {
    for (EACH(at, size)) {
        if (labels[at] >= LARGEST_EXACT && labels[at] < FAR) notes[0] = 1;
        if (has_roles && roles[at] == 0 && labels[at] < start[at]) notes[1] = 1;
    }
}

// Marks the datasets whose label is their own start.
extern "C" __global__ void mark_own(const Label* labels, const Label* start, Byte* own, Whole size) {
    for (EACH(at, size)) own[at] = labels[at] >= start[at];
}

// Sweeps ---------------------------------------------------------------------------------------------------------------

// The epsilon between two neighbouring positions of a line.
__device__ inline Label between(const Label* table, Whole state_count, Byte one, Byte other) {
    return table[state_count > 1 ? one * state_count + other : 0];
}

// One axis of counts, where neighbours are next to each other: a line is read once, swept up and down in shared memory,
// and written once. A block takes `lanes` lines; `segments` threads share a line. Each thread sweeps its own segment; a
// scan over the segments' ends then tells what comes in from the others.
extern "C" __global__ void __launch_bounds__(256, 4) sweep_path(
    Label* labels, const Byte* states, const Label* table, Whole state_count, Whole high, Whole length, Whole low,
    Whole lanes, Whole segments, Whole span, Whole* fell) {
    extern __shared__ Label tile[];
    Label* totals = tile + lanes * length;
    Label* ends = totals + blockDim.x;
    const int thread = threadIdx.x, lane = thread % (int)lanes, segment = thread / (int)lanes;
    const Whole first = blockIdx.x * lanes, line = first + lane;
    const bool inside = line < high * low, contiguous = low == 1;
    const Whole base = inside ? line / low * length * low + line % low : 0;
    const Whole many = (high * low - first < lanes ? high * low - first : lanes) * length;  // labels of a contiguous tile
    const int begin = min(segment * (int)span, (int)length), end = min(begin + (int)span, (int)length);
    const int apart = contiguous ? 1 : (int)lanes;                // between neighbours in the tile
    Label* own = tile + (contiguous ? lane * length : lane);
    bool changed = false;

    if (contiguous) {
#pragma unroll 8
        for (Whole at = thread; at < many; at += blockDim.x) tile[at] = labels[first * length + at];
    } else if (inside) {
#pragma unroll 8
        for (Whole at = segment; at < length; at += segments) own[at * apart] = labels[base + at * low];
    }
    __syncthreads();

    for (int way = 1; way >= -1; way -= 2) {  // up, then down
        const int from = way > 0 ? begin : end - 1, to = way > 0 ? end : begin - 1;
        const int rank = way > 0 ? segment : (int)segments - 1 - segment;
        const int slot = rank * (int)lanes + lane;
        Label value = FAR, total = 0;
        if (inside) {
            Byte before = state_count > 1 && from - way >= 0 && from - way < length ? states[base + (from - way) * low] : 0;
            for (int at = from; at != to; at += way) {
                Byte here = state_count > 1 ? states[base + at * low] : 0;
                Label step = at - way >= 0 && at - way < length ? between(table, state_count, before, here) : 0;
                Label bound = value + step, label = own[at * apart];
                changed |= bound < label;
                value = own[at * apart] = min(bound, label);
                total = min(total + step, FAR);
                before = here;
            }
        }
        totals[slot] = total;
        ends[slot] = value;
        __syncthreads();
        for (int reach = 1; reach < segments; reach *= 2) {  // joins each segment with those before it
            Label total_before = 0, end_before = FAR;
            if (rank >= reach) {
                total_before = totals[slot - reach * lanes];
                end_before = ends[slot - reach * lanes];
            }
            __syncthreads();
            ends[slot] = min(end_before + totals[slot], ends[slot]);
            totals[slot] = min(total_before + totals[slot], FAR);
            __syncthreads();
        }
        Label coming = rank > 0 ? ends[slot - lanes] : FAR;
        if (inside && from != to && coming < FAR) {
            Byte before = state_count > 1 ? states[base + (from - way) * low] : 0;
            for (int at = from; at != to; at += way) {
                Byte here = state_count > 1 ? states[base + at * low] : 0;
                coming += between(table, state_count, before, here);
                if (coming >= own[at * apart]) break;  // the rest of the segment is at most this far above
                own[at * apart] = coming;
                changed = true;
                before = here;
            }
        }
        __syncthreads();
    }

    if (contiguous) {
        for (Whole at = thread; at < many; at += blockDim.x) labels[first * length + at] = tile[at];
    } else if (inside) {
        for (Whole at = segment; at < length; at += segments) labels[base + at * low] = own[at * apart];
    }
    if (changed) *fell = 1;
}

// Where a label of a cube lies in shared memory; the gaps keep threads from waiting for the same bank.
__device__ inline int padded(int at) { return at + (at >> 4); }

// Sweeps BITS neighbouring people of one group of labels, in registers.
template <int BITS>
__device__ void meet_people(Label* tile, const Label* epsilon, int group, int shift) {
    Label held[1 << BITS];
    const int begin = ((group >> shift) << (shift + BITS)) | (group & ((1 << shift) - 1));
#pragma unroll
    for (int at = 0; at < 1 << BITS; at++) held[at] = tile[padded(begin | (at << shift))];
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) {
#pragma unroll
        for (int at = 0; at < 1 << BITS; at++) {
            if (at & (1 << bit)) continue;
            Label bound = min(held[at], held[at | (1 << bit)]) + epsilon[bit];
            held[at] = min(held[at], bound);
            held[at | (1 << bit)] = min(held[at | (1 << bit)], bound);
        }
    }
#pragma unroll
    for (int at = 0; at < 1 << BITS; at++) tile[padded(begin | (at << shift))] = held[at];
}

// Several neighbouring people with two values each: a tile of all their 2^people combinations, and 2^column_bits labels
// beside each, is read once, swept four people at a time, and written once. epsilon[0] is that of the last person. With
// `watch`, it is found out whether a label fell, which needs another look at each.
extern "C" __global__ void __launch_bounds__(256, 3) sweep_people(
    Label* labels, const Label* epsilon, Whole people, Whole low, Whole column_bits, Whole watch, Whole* fell) {
    extern __shared__ Label tile[];
    const Whole across = (low + (1LL << column_bits) - 1) >> column_bits;
    const Whole column = (blockIdx.x % across) << column_bits;
    const Whole base = (blockIdx.x / across << people) * low + column;
    const int bits = (int)column_bits, wide = (int)min(low - column, 1LL << column_bits), size = 1 << (people + bits);

#pragma unroll 8
    for (int at = threadIdx.x; at < size; at += blockDim.x) {
        const int beside = at & ((1 << bits) - 1);
        tile[padded(at)] = beside < wide ? labels[base + (at >> bits) * low + beside] : FAR;
    }
    __syncthreads();
    for (int person = 0; person < people; person += 4) {
        const int taken = min(4, (int)people - person), shift = person + bits;
        for (int group = threadIdx.x; group < size >> taken; group += blockDim.x) {
            if (taken == 4) meet_people<4>(tile, epsilon + person, group, shift);
            else if (taken == 3) meet_people<3>(tile, epsilon + person, group, shift);
            else if (taken == 2) meet_people<2>(tile, epsilon + person, group, shift);
            else meet_people<1>(tile, epsilon + person, group, shift);
        }
        __syncthreads();
    }
    for (int at = threadIdx.x; at < size; at += blockDim.x) {
        const int beside = at & ((1 << bits) - 1);
        if (beside >= wide) continue;
        Label* label = labels + base + (at >> bits) * low + beside;
        if (watch && *label != tile[padded(at)]) *fell = 1;
        *label = tile[padded(at)];
    }
}

// Any axis, one thread for each line: repeats all moves in global memory until the line is at its fixed point.
extern "C" __global__ void sweep_moves(
    Label* labels, const Byte* states, const Label* table, Whole state_count, Whole high, Whole length, Whole low,
    const int* sources, const int* targets, const int* kinds, Whole moves, Whole* fell) {
    for (EACH(line, high * low)) {
        const Whole base = line / low * length * low + line % low;
        bool again = true, changed = false;
        while (again) {
            again = false;
            for (Whole move = 0; move < moves; move++) {
                const Whole source = base + sources[move] * low, target = base + targets[move] * low;
                const Label* own = table + kinds[move] * state_count * state_count;
                const Byte here = state_count > 1 ? states[source] : 0, there = state_count > 1 ? states[target] : 0;
                const Label bound = labels[source] + between(own, state_count, here, there);
                if (bound < labels[target]) {
                    labels[target] = bound;
                    again = changed = true;
                }
            }
        }
        if (changed) *fell = 1;
    }
}

// Neighbours of single datasets ----------------------------------------------------------------------------------------

// All axes of a space: for each its length, the distance between neighbouring positions, the start of its rows of moves
// (-1 where neighbours are next to each other), the start of its table, and the number of states in it. A row of `inner`
// datasets shares all positions on the axes before `inner_from`.
struct Space {
    const Whole *axes, *rows;
    const int *targets, *kinds;
    Whole axis_count, inner_from, outer, inner;
};
#define LENGTH 0
#define LOW 1
#define ROWS 2
#define TABLE 3
#define STATES 4
#define COLUMNS 5
#define MOST_AXES 64

// Calls visit(dataset, rest, place) for every dataset of the rows of a block: `rest` holds the positions on the inner
// axes, and place[axis] that on each of the others.
template <class Visit>
__device__ void each_dataset(const Space& space, int* place, Visit visit) {
    for (Whole row = blockIdx.x; row < space.outer; row += gridDim.x) {
        __syncthreads();
        for (Whole axis = threadIdx.x; axis < space.inner_from; axis += blockDim.x) {
            const Whole* own = space.axes + axis * COLUMNS;
            place[axis] = (int)(row * space.inner / own[LOW] % own[LENGTH]);
        }
        __syncthreads();
        for (Whole at = threadIdx.x; at < space.inner; at += blockDim.x) visit(row * space.inner + at, (unsigned)at, place);
    }
}

// Calls visit(neighbour, place of the move's table) for every neighbour of a dataset.
template <class Visit>
__device__ void each_neighbour(const Space& space, Whole dataset, unsigned rest, const int* place, Visit visit) {
    for (Whole axis = space.axis_count - 1; axis >= 0; axis--) {
        const Whole* own = space.axes + axis * COLUMNS;
        const int length = (int)own[LENGTH];
        int position;
        if (axis < space.inner_from) {
            position = place[axis];
        } else if (length == 2) {
            position = rest & 1;
            rest >>= 1;
        } else {
            position = rest % length;
            rest /= length;
        }
        if (own[ROWS] < 0) {
            if (position > 0) visit(dataset - own[LOW], own[TABLE], own[STATES]);
            if (position + 1 < length) visit(dataset + own[LOW], own[TABLE], own[STATES]);
            continue;
        }
        const Whole* row = space.rows + own[ROWS] + position;
        for (Whole arc = row[0]; arc < row[1]; arc++) {
            const Whole table = own[TABLE] + space.kinds[arc] * own[STATES] * own[STATES];
            visit(dataset + (space.targets[arc] - position) * own[LOW], table, own[STATES]);
        }
    }
}

#define SPACE \
    const Whole *axes, const Whole *rows, const int *targets, const int *kinds, Whole axis_count, Whole inner_from, \
        Whole outer, Whole inner
#define THE_SPACE {axes, rows, targets, kinds, axis_count, inner_from, outer, inner}

// Start labels of the balanced search: the smallest of `points` on any edge to the other answer; marks the boundary.
extern "C" __global__ void meet_neighbours(
    SPACE, const Byte* answers, const Byte* states, const Label* points, Label* labels, Byte* boundary) {
    __shared__ int place[MOST_AXES];
    const Space space = THE_SPACE;
    each_dataset(space, place, [&](Whole dataset, unsigned rest, const int* outside) {
        Label label = FAR;
        each_neighbour(space, dataset, rest, outside, [&](Whole other, Whole table, Whole count) {
            if (answers[dataset] == answers[other]) return;
            label = min(label, between(points + table, count, count > 1 ? states[dataset] : 0, count > 1 ? states[other] : 0));
        });
        labels[dataset] = label;
        boundary[dataset] = label < FAR;
    });
}

// For each label that is not its own start, a neighbour that it came from. First all with smaller labels; then, again
// and again, with equal ones that have a link themselves, so that links form no cycle. Counts those without in notes[0].
extern "C" __global__ void find_links(
    SPACE, const Label* labels, const Byte* own, const Byte* roles, Whole has_roles, const Byte* states,
    const Label* tables, int* links, Whole tied, Whole* notes) {
    __shared__ int place[MOST_AXES];
    const Space space = THE_SPACE;
    each_dataset(space, place, [&](Whole dataset, unsigned rest, const int* outside) {
        const Label label = labels[dataset];
        if (!tied) links[dataset] = -1;
        if (own[dataset] || label == FAR || links[dataset] >= 0) return;
        int found = -1;
        each_neighbour(space, dataset, rest, outside, [&](Whole other, Whole table, Whole count) {
            if (found >= 0 || labels[other] > label || (labels[other] == label) != (tied != 0)) return;
            if (has_roles && roles[dataset] == 0 && roles[other] == 0) return;
            if (tied && !own[other] && ((volatile int*)links)[other] < 0) return;
            const Label* cell = tables + table;
            const Label step = between(cell, count, count > 1 ? states[other] : 0, count > 1 ? states[dataset] : 0);
            if (step < FAR && labels[other] + step == label) found = (int)other;
        });
        links[dataset] = found;
        if (found < 0) atomicAdd((unsigned long long*)notes, 1ULL);
    });
}
