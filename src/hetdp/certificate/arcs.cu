// The verifier's own kernel, written from the definition of privacy; it shares nothing with the engines. z is a whole
// number of units (2^-40), and FAR stands for infinity, so that every comparison is exact.

typedef long long Whole;
typedef unsigned long long Key;
typedef unsigned char Byte;

#define FAR (1LL << 61)
#define MOST_AXES 64
#define THREADS 256
#define TOGETHER 3  // datasets of a thread, which share what is looked up for an axis

// Repeats a statement for each dataset of a thread. The loop is unrolled, so that what it indexes stays in registers.
#define DATASETS_OF_THREAD(at) _Pragma("unroll") for (int at = 0; at < TOGETHER; at++) if (at < count)

// An axis: how many positions it has, how far apart neighbouring positions are, its first change, the change after its
// last, where its table of epsilon begins, and how many states that tells apart.
enum { POSITIONS, APART, FIRST, LAST, TABLE, STATES, COLUMNS };

enum { ARCS, ENCLOSED, VIOLATIONS, LOOSE, UNPINNED, OVERFLOWN };  // of the notes

// The place of a key in a set, where it is put if need be; -1 if the set is full. Zero means that a place is free.
__device__ Whole place_of(Key* set, Whole places, Key key) {
    Whole at = (Whole)((key * 0x9E3779B97F4A7C15ULL) >> 20) & (places - 1);
    for (Whole tries = 0; tries < places; tries++) {
        Key seen = ((volatile Key*)set)[at];
        if (seen == 0) seen = atomicCAS(set + at, (Key)0, key);
        if (seen == 0 || seen == key) return at;
        at = (at + 1) & (places - 1);
    }
    return -1;
}

// What is known of arcs across 1/2: the values at their ends, their triples, and the first arc of each triple.
struct Sets {
    Key *values, *triples, *first;
    Whole value_places, triple_places, cells;
};

// The place of the triple of an arc across 1/2; -1 if a set is full. It is not inlined: few arcs need it.
__device__ __noinline__ Whole place_of_triple(const Sets& sets, Whole zu, Whole zv, Whole cell, Key arc) {
    const Whole one = place_of(sets.values, sets.value_places, (Key)(zu + 2 * FAR));
    const Whole other = place_of(sets.values, sets.value_places, (Key)(zv + 2 * FAR));
    if (one < 0 || other < 0) return -1;
    const Key triple = (Key)((one * sets.value_places + other) * sets.cells + cell) + 1;
    const Whole place = place_of(sets.triples, sets.triple_places, triple);
    if (place >= 0 && arc < ((volatile Key*)sets.first)[place]) atomicMin(sets.first + place, arc);
    return place;
}

// The arc with the least slack that a thread has seen; of equals the one with the first source, then target.
struct Worst {
    Whole slack, source, target, epsilon;
};

__device__ inline bool is_worse(const Worst& one, const Worst& other) {
    if (one.slack != other.slack) return one.slack < other.slack;
    if (one.source != other.source) return one.source < other.source;
    return one.target < other.target;
}

// Visits every arc u -> v of a product: for each dataset u, all that one person may change (kinds and leads_to, by
// change and position). Datasets are taken row by row: those of a row differ on the axes from `inner_from` on only.
//
// An arc is private if z(v) <= z(u) + epsilon. With `halved`, one across p = 1/2, z(u) < 0 < z(v), is left to the host: its
// triple (z(u), z(v), place of epsilon) is put into the set `triples`, by the places of both z in the set `values`, and
// `first` has the first arc of each. Arcs whose triple the host has marked in `failing` count as violations.
//
// A dataset that is not pinned must be held down by a neighbour of the same answer: its value, signed so that larger is
// better, is that of the neighbour plus epsilon, and larger than it. A chain of such neighbours ends at a pin.
extern "C" __global__ void __launch_bounds__(THREADS, 2) survey_arcs(
    const Whole* z, const Byte* answers, const Byte* pinned, const Byte* states, const Whole* axes, Whole axis_count,
    Whole inner_from, Whole rows, Whole width, const int* kinds, const int* leads_to, const Whole* starts,
    Whole changes, const Whole* tables, Whole cells, Key* values, Whole value_places, Key* triples,
    Whole triple_places, Key* first, const Byte* failing, Whole halved, Whole* notes, Whole* worst_of_blocks) {
    __shared__ int outside[MOST_AXES];
    __shared__ Worst worst[THREADS];
    const Sets sets = {values, triples, first, value_places, triple_places, cells};
    Worst own = {FAR, FAR, FAR, 0};
    Whole arcs = 0, enclosed = 0, violations = 0;

    for (Whole row = blockIdx.x; row < rows; row += gridDim.x) {
        __syncthreads();
        for (Whole axis = threadIdx.x; axis < inner_from; axis += blockDim.x) {
            outside[axis] = (int)(row * width / axes[axis * COLUMNS + APART] % axes[axis * COLUMNS + POSITIONS]);
        }
        __syncthreads();
        for (Whole column = threadIdx.x; column < width; column += TOGETHER * blockDim.x) {
            const Whole u = row * width + column;  // the first dataset of this thread; the others are blockDim.x apart
            const int count = (int)min((Whole)TOGETHER, (width - column + blockDim.x - 1) / blockDim.x);
            Whole z_own[TOGETHER];
            Byte answer[TOGETHER];
            unsigned left[TOGETHER];
            bool on_boundary[TOGETHER], held[TOGETHER];
            DATASETS_OF_THREAD(at) {
                z_own[at] = z[u + at * blockDim.x];
                answer[at] = answers[u + at * blockDim.x];
                left[at] = (unsigned)(column + at * blockDim.x);
                on_boundary[at] = held[at] = false;
            }

            // One arc of the dataset `at`: how far away its target is, the target's z and answer, and the cell of epsilon.
            auto look = [&](int at, Whole change, Whole away, Whole zv, Byte other, Whole states_of_axis, Whole cell) {
                const Whole source = u + at * blockDim.x, target = source + away, zu = z_own[at];
                if (states_of_axis > 1) cell += states[source] * states_of_axis + states[target];
                const Whole epsilon = tables[cell];
                if (epsilon == FAR) return;
                arcs++;
                if (answer[at] != other) {
                    on_boundary[at] = true;
                } else {
                    const Whole better = answer[at] == 1 ? zu : -zu, beside = answer[at] == 1 ? zv : -zv;
                    held[at] |= beside < better && beside + epsilon == better && !(halved && beside < 0 && better > 0);
                }
                if (halved && zu < 0 && zv > 0) {
                    enclosed += zv - zu >= epsilon;
                    const Whole triple = place_of_triple(sets, zu, zv, cell, (Key)(source * changes + change));
                    if (triple < 0) {
                        notes[OVERFLOWN] = 1;
                    } else {
                        violations += failing[triple];
                    }
                    return;
                }
                if (zu == FAR || zv == -FAR) return;  // no bound, or nothing to be bounded
                const Whole slack = zu == -FAR || zv == FAR ? -FAR : zu + epsilon - zv;
                violations += slack < 0;
                if (slack > own.slack) return;
                const Worst found = {slack, source, target, epsilon};
                if (is_worse(found, own)) own = found;
            };

            for (Whole axis = axis_count - 1; axis >= 0; axis--) {
                const Whole* about = axes + axis * COLUMNS;
                const unsigned positions = (unsigned)about[POSITIONS];
                const Whole apart = about[APART], table = about[TABLE], told = about[STATES], last = about[LAST];
                if (axis < inner_from) {  // all datasets of a row have the same position
                    const int position = outside[axis];
                    for (Whole change = about[FIRST]; change < last; change++) {
                        const int to = leads_to[starts[change] + position];
                        if (to < 0) continue;
                        const Whole cell = table + kinds[starts[change] + position] * told * told;
                        const Whole away = (to - position) * apart;
                        Whole zv[TOGETHER];  // all are asked for before one is used
                        Byte other[TOGETHER];
                        DATASETS_OF_THREAD(at) {
                            zv[at] = z[u + at * blockDim.x + away];
                            other[at] = answers[u + at * blockDim.x + away];
                        }
                        DATASETS_OF_THREAD(at) look(at, change, away, zv[at], other[at], told, cell);
                    }
                    continue;
                }
                DATASETS_OF_THREAD(at) {
                    const int position = (int)(positions == 2 ? left[at] & 1 : left[at] % positions);
                    left[at] = positions == 2 ? left[at] >> 1 : left[at] / positions;
                    for (Whole change = about[FIRST]; change < last; change++) {
                        const int to = leads_to[starts[change] + position];
                        if (to < 0) continue;
                        const Whole cell = table + kinds[starts[change] + position] * told * told;
                        const Whole away = (to - position) * apart, target = u + at * blockDim.x + away;
                        look(at, change, away, z[target], answers[target], told, cell);
                    }
                }
            }
            DATASETS_OF_THREAD(at) {
                const Whole dataset = u + at * blockDim.x;
                if (on_boundary[at] && !pinned[dataset]) atomicMin((Key*)notes + UNPINNED, (Key)dataset);
                if (!held[at] && !pinned[dataset] && (answer[at] == 1 ? z_own[at] : -z_own[at]) < FAR) {
                    atomicMin((Key*)notes + LOOSE, (Key)dataset);
                }
            }
        }
    }

    atomicAdd((Key*)notes + ARCS, (Key)arcs);
    atomicAdd((Key*)notes + ENCLOSED, (Key)enclosed);
    atomicAdd((Key*)notes + VIOLATIONS, (Key)violations);
    worst[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int thread = 1; thread < (int)blockDim.x; thread++) {
            if (is_worse(worst[thread], own)) own = worst[thread];
        }
        Whole* result = worst_of_blocks + 4 * blockIdx.x;
        result[0] = own.slack;
        result[1] = own.source;
        result[2] = own.target;
        result[3] = own.epsilon;
    }
}

// Largest changes ------------------------------------------------------------------------------------------------------

// p of the less probable answer at z. With `halved`, p is 1/2 * e^-|z|; else the odds are e^z.
__device__ inline double tail_of(Whole z, bool halved) {
    if (z == FAR || z == -FAR) return 0.0;
    const double tail = exp(-fabs((double)z / 1099511627776.0));
    return halved ? 0.5 * tail : tail / (1.0 + tail);
}

// An edge, the distance of z at its ends, and the difference of p.
struct Edge {
    Whole source, target, apart;
    double difference;
};

__device__ inline bool is_wider(const Edge& one, const Edge& other) {
    if (one.apart != other.apart) return one.apart > other.apart;
    if (one.difference != other.difference) return one.difference > other.difference;
    return one.source < other.source;
}

__device__ inline bool is_steeper(const Edge& one, const Edge& other) {
    if (one.difference != other.difference) return one.difference > other.difference;
    if (one.apart != other.apart) return one.apart > other.apart;
    return one.source < other.source;
}

__device__ inline void write_edge(Whole* result, const Edge& edge, const Whole* z) {
    result[0] = edge.source;
    result[1] = edge.target;
    result[2] = edge.source < 0 ? 0 : z[edge.source];
    result[3] = edge.source < 0 ? 0 : z[edge.target];
}

// Of all edges along one axis on one side of 1/2, those with the largest distance of z and with the largest difference of
// p, for each block: source and target, -1 if there is none, and both z. Edges across 1/2 are left to the host: each
// distinct pair of z is put into the set `pairs`, with its first edge, as arcs across are by survey_arcs. Edges without a
// constraint take part only if `unbound`.
extern "C" __global__ void __launch_bounds__(THREADS) largest_changes(
    const Whole* z, const Byte* states, Whole size, const Whole* axis, const int* kinds, const int* leads_to,
    const Whole* starts, Whole changes, const Whole* tables, Whole unbound, Key* values, Whole value_places, Key* pairs,
    Whole pair_places, Key* first, Whole halved, Whole* notes, Whole* edges_of_blocks) {
    __shared__ Edge all[THREADS][2];
    const Sets sets = {values, pairs, first, value_places, pair_places, 1};
    const Whole apart = axis[APART], positions = axis[POSITIONS], told = axis[STATES];
    Edge widest = {-1, -1, -1, -1.0}, steepest = widest;
    for (Whole u = (Whole)blockIdx.x * blockDim.x + threadIdx.x; u < size; u += (Whole)gridDim.x * blockDim.x) {
        const int position = (int)(u / apart % positions);
        for (Whole change = axis[FIRST]; change < axis[LAST]; change++) {
            const int to = leads_to[starts[change] + position];
            if (to <= position) continue;  // each edge once
            const Whole v = u + (to - position) * apart, zu = z[u], zv = z[v];
            Whole cell = axis[TABLE] + kinds[starts[change] + position] * told * told;
            if (told > 1) cell += states[u] * told + states[v];
            if (tables[cell] == FAR && !unbound) continue;
            if (halved && ((zu < 0 && zv > 0) || (zu > 0 && zv < 0))) {
                if (place_of_triple(sets, zu, zv, 0, (Key)(u * changes + change)) < 0) notes[OVERFLOWN] = 1;
                continue;
            }
            const Edge found = {u, v, zu < zv ? zv - zu : zu - zv, fabs(tail_of(zu, halved) - tail_of(zv, halved))};
            if (is_wider(found, widest)) widest = found;
            if (is_steeper(found, steepest)) steepest = found;
        }
    }
    all[threadIdx.x][0] = widest;
    all[threadIdx.x][1] = steepest;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int thread = 1; thread < (int)blockDim.x; thread++) {
            if (is_wider(all[thread][0], widest)) widest = all[thread][0];
            if (is_steeper(all[thread][1], steepest)) steepest = all[thread][1];
        }
        write_edge(edges_of_blocks + 8 * blockIdx.x, widest, z);
        write_edge(edges_of_blocks + 8 * blockIdx.x + 4, steepest, z);
    }
}
