// Kernels of the gpu engine. A label is a whole number of grid units (2^-40), and FAR stands for infinity, so that
// every sum is exact. No label or epsilon is above FAR, so that no sum of two overflows.
//
// Outside this file, `plan.py` says which kernel sweeps which axis, and with which launch.

typedef long long Label;
typedef long long Whole;
typedef unsigned char Byte;

#define FAR (1LL << 61)
#define THREADS 256  // most threads of a block, except for sweep_path
#define UNITS 1099511627776.0      // 2^40 units in 1
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

// Hides a number from the optimiser, so that multiples are computed when needed instead of held in registers.
__device__ inline Whole opaque(Whole number) {
    asm volatile("" : "+l"(number));
    return number;
}
__device__ inline int opaque(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

#define SPAN 16            // labels that a thread of sweep_path holds in registers
#define PATH_THREADS 1024  // most threads of its block; half as many for sweep_watched_path

// One axis where neighbours are next to each other. A block takes `lanes` lines; `segments` threads share a line, each
// with SPAN labels in registers. What each segment does to its two ends is found first; a scan over the segments tells
// what comes in at both sides; then each segment is swept up and down once. Labels beyond the end of a line are FAR, as
// if the line went on. So every label is read once and written once.
//
// Lines that lie beside each other are read where they are. With `staged`, they lie behind each other (low < lanes), and
// are read through shared memory. PLAIN: one epsilon along the axis, and no report of fallen labels.
template <bool PLAIN>
__device__ void sweep_lines(
    Label* labels, const Byte* states, const Label* table, Whole state_count, Whole high, Whole length, Whole low,
    Whole lanes, Whole segments, Whole staged, Whole* fell, Label* tile) {
    const int thread = threadIdx.x, threads = blockDim.x;
    const int lane = staged ? thread / (int)segments : thread % (int)lanes;
    const int segment = staged ? thread % (int)segments : thread / (int)lanes;
    const int stride = staged ? 1 : (int)lanes;  // from the thread of a segment to that of the next one
    const Whole first = blockIdx.x * lanes, line = first + lane;
    const bool inside = line < high * low;
    const int begin = segment * SPAN, count = inside ? min(SPAN, (int)length - begin) : 0;
    const Whole base = inside ? line / low * length * low + line % low : 0;
    Label* own = labels + base + begin * low;  // the labels of this thread are `low` apart
    Label values[SPAN];

    // Staged labels are those of some whole groups of lines; the gaps keep threads from waiting for the same bank.
    const Whole group = length * low, start = first / low * group, beyond = min(first + lanes, high * low) / low * group;
    const int offset = (int)(base + begin * low - start);  // of the first label of this thread
    auto place = [](int at) { return at + (at >> 5); };
    if (staged) {
#pragma unroll 8
        for (Whole at = start + thread; at < beyond; at += threads) tile[place((int)(at - start))] = labels[at];
        __syncthreads();
        const int apart = opaque((int)low);
#pragma unroll
        for (int at = 0; at < SPAN; at++) values[at] = at < count ? tile[place(offset + at * apart)] : FAR;
        __syncthreads();  // its place is needed for the scan
    } else {
        const Whole apart = opaque(low);
#pragma unroll
        for (int at = 0; at < SPAN; at++) values[at] = at < count ? own[at * apart] : FAR;
    }

    const Label equal = PLAIN ? table[0] : 0;
    Byte state[SPAN + 2];  // of the positions of this segment, of the one before and of the one behind
    if (!PLAIN) {
#pragma unroll
        for (int at = 0; at < SPAN + 2; at++) {
            const int position = begin + at - 1;
            const bool exists = state_count > 1 && inside && position >= 0 && position < (int)length;
            state[at] = exists ? states[base + position * low] : (Byte)0;
        }
    }
    auto step = [&](int from, int to) {  // between neighbouring positions
        return PLAIN ? equal : table[state[from + 1] * state_count + state[to + 1]];
    };

    Label up = FAR, down = FAR, across_up = 0, across_down = 0;  // the ends, and the way from one segment's to the next
#pragma unroll
    for (int at = 0; at < SPAN; at++) {
        const int back = SPAN - 1 - at;
        const Label rise = step(at - 1, at), fall = step(back + 1, back);
        up = min(up + rise, values[at]);
        down = min(down + fall, values[back]);
        if (!PLAIN) across_up = min(across_up + rise, FAR), across_down = min(across_down + fall, FAR);
    }
    if (PLAIN) across_up = across_down = equal > FAR / SPAN ? FAR : equal * SPAN;

    for (int reach = 1, turn = 0; segments > 1; reach *= 2, turn ^= 1) {
        Label* ends = tile + turn * (PLAIN ? 2 : 4) * threads;
        ends[thread] = up;
        ends[threads + thread] = down;
        if (!PLAIN) ends[2 * threads + thread] = across_up, ends[3 * threads + thread] = across_down;
        __syncthreads();
        const int before = thread - reach * stride, after = thread + reach * stride;
        if (reach >= segments) {  // the scan is complete; what comes in is what the neighbours have
            up = segment > 0 ? ends[thread - stride] : FAR;
            down = segment + 1 < segments ? ends[threads + thread + stride] : FAR;
            break;
        }
        if (segment >= reach) {
            up = min(up, ends[before] + across_up);
            if (!PLAIN) across_up = min(across_up + ends[2 * threads + before], FAR);
        }
        if (segment + reach < segments) {
            down = min(down, ends[threads + after] + across_down);
            if (!PLAIN) across_down = min(across_down + ends[3 * threads + after], FAR);
        }
        if (PLAIN) across_up = across_down = min(2 * across_up, FAR);
    }
    if (segments == 1) up = down = FAR;

    bool changed = false;
#pragma unroll
    for (int at = 0; at < SPAN; at++) {
        const Label bound = up + step(at - 1, at);
        if (!PLAIN) changed |= at < count && bound < values[at];
        up = values[at] = min(bound, values[at]);
    }
#pragma unroll
    for (int at = SPAN - 1; at >= 0; at--) {
        const Label bound = down + step(at + 1, at);
        if (!PLAIN) changed |= at < count && bound < values[at];
        down = values[at] = min(bound, values[at]);
    }
    if (changed) *fell = 1;

    if (staged) {
        __syncthreads();
        const int apart = opaque((int)low);
#pragma unroll
        for (int at = 0; at < SPAN; at++) {
            if (at < count) tile[place(offset + at * apart)] = values[at];
        }
        __syncthreads();
        for (Whole at = start + thread; at < beyond; at += threads) labels[at] = tile[place((int)(at - start))];
    } else {
        const Whole apart = opaque(low);
#pragma unroll
        for (int at = 0; at < SPAN; at++) {
            if (at < count) own[at * apart] = values[at];
        }
    }
}

extern "C" __global__ void __launch_bounds__(PATH_THREADS) sweep_path(
    Label* labels, const Byte* states, const Label* table, Whole state_count, Whole high, Whole length, Whole low,
    Whole lanes, Whole segments, Whole staged, Whole* fell) {
    extern __shared__ Label tile[];
    sweep_lines<true>(labels, states, table, state_count, high, length, low, lanes, segments, staged, fell, tile);
}

// The same for epsilon that depends on states, or if it matters whether a label fell.
extern "C" __global__ void __launch_bounds__(PATH_THREADS / 2) sweep_watched_path(
    Label* labels, const Byte* states, const Label* table, Whole state_count, Whole high, Whole length, Whole low,
    Whole lanes, Whole segments, Whole staged, Whole* fell) {
    extern __shared__ Label tile[];
    sweep_lines<false>(labels, states, table, state_count, high, length, low, lanes, segments, staged, fell, tile);
}

// A tile of people with two values each: all their 2^people combinations, and 2^column_bits labels beside each, of which
// only `wide` are inside the space.
struct Tile {
    Label* labels;  // the first of the tile
    Whole low;
    int people, column_bits, wide;
};

// Where a label of a tile is in shared memory; the gaps keep threads from waiting for the same bank. The place of the sum
// of two numbers without a common bit is the sum of their places.
__device__ inline int place_of(int at) { return at + (at >> 4) + (at >> 8 << 3); }

// Sweeps BITS neighbouring people of a tile, in registers; `person` is the last of them, counted from the last one of the
// tile. Their labels come from the space or from shared memory, and go there.
template <int BITS, bool FROM_SPACE, bool TO_SPACE>
__device__ void sweep_round(const Tile& tile, Label* shared, const Label* epsilon, int person, bool watch, Whole* fell) {
    const int shift = person + tile.column_bits, groups = 1 << (tile.people + tile.column_bits - BITS);
    const Whole apart = tile.low << person;
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
        const int begin = ((group >> shift) << (shift + BITS)) | (group & ((1 << shift) - 1));
        const int column = begin & ((1 << tile.column_bits) - 1);
        const bool inside = column < tile.wide;
        Label* first = tile.labels + (begin >> tile.column_bits) * tile.low + column;
        Label* place = shared + place_of(begin);
        Label values[1 << BITS];
        int from = opaque(shift);
        Whole further = opaque(apart);
#pragma unroll
        for (int at = 0; at < 1 << BITS; at++) {
            values[at] = !FROM_SPACE ? place[place_of(at << from)] : inside ? first[at * further] : FAR;
        }
#pragma unroll
        for (int bit = 0; bit < BITS; bit++) {
            const Label step = epsilon[person + bit];
#pragma unroll
            for (int at = 0; at < 1 << BITS; at++) {
                if (at & (1 << bit)) continue;
                const Label bound = min(values[at], values[at | (1 << bit)]) + step;
                values[at] = min(values[at], bound);
                values[at | (1 << bit)] = min(values[at | (1 << bit)], bound);
            }
        }
        from = opaque(shift);
        further = opaque(apart);
        if (TO_SPACE && watch && inside) {
#pragma unroll
            for (int at = 0; at < 1 << BITS; at++) {
                if (first[at * further] != values[at]) *fell = 1;
            }
        }
#pragma unroll
        for (int at = 0; at < 1 << BITS; at++) {
            if (!TO_SPACE) {
                place[place_of(at << from)] = values[at];
            } else if (inside) {
                first[at * further] = values[at];
            }
        }
    }
}

// Several neighbouring people with two values each. Up to three rounds sweep up to five people each; the first reads the
// tile, the last writes it, and the others stay in shared memory. The first people are taken first and the last ones
// second, so that reading and writing are coalesced. epsilon[0] is that of the last person. With `watch`, reports
// whether a label fell, at the cost of reading every label again.
extern "C" __global__ void __launch_bounds__(256, 2) sweep_people(
    Label* labels, const Label* epsilon, Whole people, Whole low, Whole column_bits, Whole watch, Whole* fell) {
    extern __shared__ Label tile[];
    const Whole across = (low + (1LL << column_bits) - 1) >> column_bits;
    const Whole column = (blockIdx.x % across) << column_bits;
    const Whole base = (blockIdx.x / across << people) * low + column;
    const Tile block = {labels + base, low, (int)people, (int)column_bits, (int)min(low - column, 1LL << column_bits)};
#define ROUND(bits, from, to, person) sweep_round<bits, from, to>(block, tile, epsilon, person, watch != 0, fell)
    switch ((int)people) {
        case 1: return ROUND(1, true, true, 0);
        case 2: return ROUND(2, true, true, 0);
        case 3: return ROUND(3, true, true, 0);
        case 4: return ROUND(4, true, true, 0);
        case 5: return ROUND(5, true, true, 0);
        case 6: ROUND(3, true, false, 3); __syncthreads(); return ROUND(3, false, true, 0);
        case 7: ROUND(4, true, false, 3); __syncthreads(); return ROUND(3, false, true, 0);
        case 8: ROUND(4, true, false, 4); __syncthreads(); return ROUND(4, false, true, 0);
        case 9: ROUND(5, true, false, 4); __syncthreads(); return ROUND(4, false, true, 0);
        case 10: ROUND(5, true, false, 5); __syncthreads(); return ROUND(5, false, true, 0);
        case 11: ROUND(4, true, false, 7); break;
        case 12: ROUND(4, true, false, 8); break;
        case 13: ROUND(5, true, false, 8); break;
    }
    __syncthreads();
    if (people == 11) ROUND(3, false, false, 0);
    else ROUND(4, false, false, 0);
    __syncthreads();
    if (people == 11) ROUND(4, false, true, 3);
    else ROUND(4, false, true, 4);
#undef ROUND
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
// (-1 where neighbours are next to each other), the start of its table, and the number of states in it.
struct Space {
    const Whole *axes, *rows;
    const int *targets, *kinds;
    Whole axis_count;
};
#define LENGTH 0
#define LOW 1
#define ROWS 2
#define TABLE 3
#define STATES 4
#define COLUMNS 5
#define MOST_AXES 64

#define SPACE const Whole *axes, const Whole *rows, const int *targets, const int *kinds, Whole axis_count
#define THE_SPACE {axes, rows, targets, kinds, axis_count}

// The position of a dataset on an axis. Shifting takes less time than dividing, and dividing short numbers less than long.
__device__ inline int position_on(const Whole* axis, Whole dataset) {
    const Whole low = axis[LOW], length = axis[LENGTH];
    if (length == 2 && (low & (low - 1)) == 0) return (int)(dataset >> (__ffsll(low) - 1)) & 1;
    if ((dataset | low | length) >> 32) return (int)(dataset / low % length);
    return (int)((unsigned)dataset / (unsigned)low % (unsigned)length);
}

// Calls visit(neighbour, place of the move's table, its states) for every neighbour of a dataset.
template <class Visit>
__device__ void each_neighbour(const Space& space, Whole dataset, Visit visit) {
#pragma unroll 4
    for (int axis = (int)space.axis_count - 1; axis >= 0; axis--) {
        const Whole* own = space.axes + axis * COLUMNS;
        const Whole low = own[LOW];
        const int position = position_on(own, dataset);
        if (own[ROWS] < 0 && own[LENGTH] == 2) {
            visit(dataset + (position ? -low : low), own[TABLE], own[STATES]);
            continue;
        }
        if (own[ROWS] < 0) {
            if (position > 0) visit(dataset - low, own[TABLE], own[STATES]);
            if (position + 1 < own[LENGTH]) visit(dataset + low, own[TABLE], own[STATES]);
            continue;
        }
        const Whole* row = space.rows + own[ROWS] + position;
        for (Whole arc = row[0]; arc < row[1]; arc++) {
            const Whole table = own[TABLE] + space.kinds[arc] * own[STATES] * own[STATES];
            visit(dataset + (space.targets[arc] - position) * low, table, own[STATES]);
        }
    }
}

// Writes the start label of a dataset of the balanced search: the smallest of `points` on any edge to the other answer.
__device__ __noinline__ void meet(
    const Space& space, Whole dataset, const Byte* answers, const Byte* states, const Label* points, Label* labels, Byte* boundary) {
    Label label = FAR;
    each_neighbour(space, dataset, [&](Whole other, Whole table, Whole count) {
        if (answers[dataset] == answers[other]) return;
        const Byte here = count > 1 ? states[dataset] : 0, there = count > 1 ? states[other] : 0;
        label = min(label, between(points + table, count, here, there));
    });
    labels[dataset] = label;
    boundary[dataset] = label < FAR;
}

// The same for `span` datasets along the axis `along`, where neighbours are next to each other on all axes. Most datasets
// have no neighbour of the other answer, which is found out first. The neighbours on the OTHERS other axes are as far away
// from all datasets of a thread. At the end of an axis, the neighbour at its other side stands for the missing one.
template <int OTHERS>
__device__ void meet_along(
    const Space& space, Whole along, Whole span, Whole size, const Byte* answers, const Byte* states, const Label* points,
    Label* labels, Byte* boundary) {
    const Whole length = space.axes[along * COLUMNS + LENGTH], low = space.axes[along * COLUMNS + LOW];
    const Whole lines = size / length, pieces = (length + span - 1) / span;
    for (EACH(task, lines * pieces)) {
        const Whole piece = pieces > 1 ? task / lines : 0, line = task - piece * lines;
        const Whole base = low == lines ? line : line / low * length * low + line % low;
        Whole upper[OTHERS], lower[OTHERS];  // how far away both neighbours are
#pragma unroll
        for (int other = 0; other < OTHERS; other++) {
            const Whole* axis = space.axes + (other + (other >= along)) * COLUMNS;
            const int position = position_on(axis, base);
            const Whole apart = axis[LENGTH] > 1 ? axis[LOW] : 0;
            upper[other] = position + 1 < axis[LENGTH] ? apart : -apart;
            lower[other] = position > 0 ? -apart : apart;
        }
        const Whole first = piece * span, last = min(first + span, length);
        Byte here = answers[base + first * low], before = first > 0 ? answers[base + (first - 1) * low] : here;
        for (Whole position = first; position < last; position++) {
            const Whole dataset = base + position * low;
            const Byte after = position + 1 < length ? answers[dataset + low] : here;
            unsigned differs = (before ^ here) | (after ^ here);
#pragma unroll
            for (int other = 0; other < OTHERS; other++) {
                differs |= (answers[dataset + upper[other]] ^ here) | (answers[dataset + lower[other]] ^ here);
            }
            if (differs) {
                meet(space, dataset, answers, states, points, labels, boundary);
            } else {
                labels[dataset] = FAR;
                boundary[dataset] = 0;
            }
            before = here;
            here = after;
        }
    }
}

// Start labels of the balanced search, and the mask of the boundary. `paths` is 1 if neighbours are next to each other on
// all axes; then, if there are few axes, a thread takes `span` datasets along the axis `along`.
extern "C" __global__ void __launch_bounds__(THREADS, 4) meet_neighbours(
    SPACE, Whole paths, Whole along, Whole span, Whole size, const Byte* answers, const Byte* states, const Label* points,
    Label* labels, Byte* boundary) {
    __shared__ Whole shared_axes[MOST_AXES * COLUMNS];
    for (int at = threadIdx.x; at < axis_count * COLUMNS; at += blockDim.x) shared_axes[at] = axes[at];
    __syncthreads();
    const Space space = {shared_axes, rows, targets, kinds, axis_count};
#define ALONG(others) meet_along<others>(space, along, span, size, answers, states, points, labels, boundary)
    if (paths && axis_count == 2) return ALONG(1);
    if (paths && axis_count == 3) return ALONG(2);
    if (paths && axis_count == 4) return ALONG(3);
#undef ALONG
    for (EACH(dataset, size)) meet(space, dataset, answers, states, points, labels, boundary);
}

// For each label that is not its own start, a neighbour that it came from. First all with smaller labels; then, again
// and again, with equal ones that have a link themselves, so that links form no cycle. Counts those without in notes[0].
extern "C" __global__ void __launch_bounds__(THREADS) find_links(
    SPACE, Whole size, const Label* labels, const Byte* own, const Byte* roles, Whole has_roles, const Byte* states,
    const Label* tables, int* links, Whole tied, Whole* notes) {
    __shared__ Whole shared_axes[MOST_AXES * COLUMNS];
    for (int at = threadIdx.x; at < axis_count * COLUMNS; at += blockDim.x) shared_axes[at] = axes[at];
    __syncthreads();
    const Space space = {shared_axes, rows, targets, kinds, axis_count};
    for (EACH(dataset, size)) {
        const Label label = labels[dataset];
        if (!tied) links[dataset] = -1;
        if (own[dataset] || label == FAR || links[dataset] >= 0) continue;
        int found = -1;
        each_neighbour(space, dataset, [&](Whole other, Whole table, Whole count) {
            if (found >= 0) return;
            const Label beside = labels[other];
            if (beside > label || (beside == label) != (tied != 0)) return;
            if (has_roles && roles[dataset] == 0 && roles[other] == 0) return;
            if (tied && !own[other] && ((volatile int*)links)[other] < 0) return;
            const Byte here = count > 1 ? states[other] : 0, there = count > 1 ? states[dataset] : 0;
            const Label step = between(tables + table, count, here, there);
            if (step < FAR && beside + step == label) found = (int)other;
        });
        links[dataset] = found;
        if (found < 0) atomicAdd((unsigned long long*)notes, 1ULL);
    }
}
