// The verifier's own kernel, written from the definition of privacy; it shares nothing with the engines. z is a whole
// number of units (2^-40), and FAR stands for infinity, so that every comparison is exact.

typedef long long Whole;
typedef unsigned long long Key;
typedef unsigned char Byte;

#define FAR (1LL << 61)
#define MOST_AXES 64
#define THREADS 256

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
extern "C" __global__ void survey_arcs(
    const Whole* z, const Byte* answers, const Byte* pinned, const Byte* states, const Whole* axes, Whole axis_count,
    Whole inner_from, Whole rows, Whole width, const int* kinds, const int* leads_to, const Whole* starts,
    Whole changes, const Whole* tables, Whole cells, Key* values, Whole value_places, Key* triples,
    Whole triple_places, Key* first, const Byte* failing, Whole halved, Whole* notes, Whole* worst_of_blocks) {
    __shared__ int outside[MOST_AXES];
    __shared__ Worst worst[THREADS];
    Worst own = {FAR, FAR, FAR, 0};
    Whole arcs = 0, enclosed = 0, violations = 0;

    for (Whole row = blockIdx.x; row < rows; row += gridDim.x) {
        __syncthreads();
        for (Whole axis = threadIdx.x; axis < inner_from; axis += blockDim.x) {
            outside[axis] = (int)(row * width / axes[axis * COLUMNS + APART] % axes[axis * COLUMNS + POSITIONS]);
        }
        __syncthreads();
        for (Whole column = threadIdx.x; column < width; column += blockDim.x) {
            const Whole u = row * width + column, zu = z[u];
            const Whole sign = answers[u] == 1 ? 1 : -1;
            bool on_boundary = false, held = false;
            unsigned left = (unsigned)column;
            for (Whole axis = axis_count - 1; axis >= 0; axis--) {
                const Whole* about = axes + axis * COLUMNS;
                const unsigned positions = (unsigned)about[POSITIONS];
                int position;
                if (axis >= inner_from) {
                    position = (int)(positions == 2 ? left & 1 : left % positions);
                    left = positions == 2 ? left >> 1 : left / positions;
                } else {
                    position = outside[axis];
                }
                for (Whole change = about[FIRST]; change < about[LAST]; change++) {
                    const int to = leads_to[starts[change] + position];
                    if (to < 0) continue;
                    const Whole v = u + (to - position) * about[APART], zv = z[v];
                    Whole cell = about[TABLE] + kinds[starts[change] + position] * about[STATES] * about[STATES];
                    if (about[STATES] > 1) cell += states[u] * about[STATES] + states[v];
                    const Whole epsilon = tables[cell];
                    if (epsilon == FAR) continue;
                    arcs++;
                    const Whole better = sign * zu, beside = sign * zv;
                    on_boundary |= answers[u] != answers[v];
                    held |= answers[u] == answers[v] && beside < better && beside + epsilon == better
                        && !(halved && beside < 0 && better > 0);
                    if (halved && zu < 0 && zv > 0) {
                        enclosed += zv - zu >= epsilon;
                        const Whole one = place_of(values, value_places, (Key)(zu + 2 * FAR));
                        const Whole other = place_of(values, value_places, (Key)(zv + 2 * FAR));
                        const Whole triple = one < 0 || other < 0
                            ? -1
                            : place_of(triples, triple_places, (Key)((one * value_places + other) * cells + cell) + 1);
                        if (triple < 0) {
                            notes[OVERFLOWN] = 1;
                            continue;
                        }
                        const Key arc = (Key)(u * changes + change);
                        if (arc < ((volatile Key*)first)[triple]) atomicMin(first + triple, arc);
                        violations += failing[triple];
                        continue;
                    }
                    if (zu == FAR || zv == -FAR) continue;  // no bound, or nothing to be bounded
                    const Whole slack = zu == -FAR || zv == FAR ? -FAR : zu + epsilon - zv;
                    violations += slack < 0;
                    const Worst found = {slack, u, v, epsilon};
                    if (is_worse(found, own)) own = found;
                }
            }
            if (on_boundary && !pinned[u]) atomicMin((Key*)notes + UNPINNED, (Key)u);
            if (!pinned[u] && !held && sign * zu < FAR) atomicMin((Key*)notes + LOOSE, (Key)u);
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
