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

enum { ARCS, ENCLOSED, VIOLATIONS, LOOSE, UNPINNED, OVERFLOWN, LISTED };  // places of the notes

// The place of a key in a hash set, inserted if missing; -1 if the set is full. Key 0 marks a free place.
__device__ Whole place_of(Key* set, Whole places, Key key) {
    Whole at = (Whole)((key * 0x9E3779B97F4A7C15ULL) >> 20) & (places - 1);
    for (Whole tries = 0; tries < places; tries++) {
        Key seen = __ldca(set + at);        // a stored key never changes, but a cached zero may be stale
        if (seen == 0) seen = __ldcg(set + at);
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
    if (place >= 0 && arc < __ldca(sets.first + place) && arc < __ldcg(sets.first + place)) atomicMin(sets.first + place, arc);
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

__device__ inline Whole sum_of_warp(Whole number) {
    for (int apart = 16; apart > 0; apart /= 2) number += __shfl_down_sync(~0u, number, apart);
    return number;
}

// A mechanism, all that one person may change, and what the kernel writes to.
struct Claim {
    const Whole *z, *axes;
    const int *kinds, *leads_to;
    const Whole *starts, *tables;
    const Byte *answers, *states, *failing;
    Whole axis_count, changes;
    bool halved;
    Sets sets;
    Whole* notes;
};

// The position of a dataset on an axis. Shifting is faster than dividing, and short numbers are divided faster.
__device__ inline int position_of(Whole u, Whole apart, Whole positions) {
    if (positions == 2 && (apart & (apart - 1)) == 0) return (int)(u >> (__ffsll(apart) - 1)) & 1;
    if ((u | apart | positions) >> 32) return (int)(u / apart % positions);
    return (int)((unsigned)u / (unsigned)apart % (unsigned)positions);
}

// What a thread has counted, and its worst arc.
struct Count {
    Whole arcs, enclosed, violations;
    Worst worst;
};

// Whether a dataset is on the boundary, and whether a neighbour holds it down.
struct Look {
    bool is_on_boundary, is_held;
};

// Looks at one arc u -> v. It is private if z(v) <= z(u) + epsilon. With `halved`, one across p = 1/2, z(u) < 0 < z(v), is left
// to the host: its triple (z(u), z(v), place of epsilon) is put into the set `triples`, by the places of both z in the set
// `values`, and `first` has the first arc of each. Arcs whose triple the host has marked in `failing` count as violations.
//
// A neighbour of the same answer holds u down if the value of u, signed so that larger is better, is that of the neighbour
// plus epsilon, and larger than it.
__device__ inline void look_at_arc(
    const Claim& claim, Whole u, Whole v, Whole zu, Byte answer, Whole epsilon, Whole cell, Whole change, Look& look, Count& count) {
    const Whole zv = claim.z[v];
    count.arcs++;
    if (answer != claim.answers[v]) {
        look.is_on_boundary = true;
    } else {
        const Whole own_value = answer == 1 ? zu : -zu, other_value = answer == 1 ? zv : -zv;
        const bool across = claim.halved && other_value < 0 && own_value > 0;
        look.is_held |= other_value < own_value && other_value + epsilon == own_value && !across;
    }
    if (claim.halved && zu < 0 && zv > 0) {
        count.enclosed += zv - zu >= epsilon;
        const Whole triple = place_of_triple(claim.sets, zu, zv, cell, (Key)(u * claim.changes + change));
        if (triple < 0) {
            claim.notes[OVERFLOWN] = 1;
        } else {
            count.violations += claim.failing[triple];
        }
    } else if (zu != FAR && zv != -FAR) {  // otherwise there is no bound, or nothing to bound
        const Whole slack = zu == -FAR || zv == FAR ? -FAR : zu + epsilon - zv;
        count.violations += slack < 0;
        const Worst found = {slack, u, v, epsilon};
        if (is_worse(found, count.worst)) count.worst = found;
    }
}

// Looks at all arcs from u. All threads of a warp go from change to change together; those without a dataset have u < 0.
__device__ inline Look look_closely(const Claim& claim, Whole u, Count& count) {
    Look look = {false, false};
    const Whole zu = u < 0 ? 0 : claim.z[u];
    const Byte answer = u < 0 ? 0 : claim.answers[u];
    for (Whole axis = 0; axis < claim.axis_count; axis++) {
        const Whole* about = claim.axes + axis * COLUMNS;
        const Whole apart = about[APART], states = about[STATES];
        const int position = u < 0 ? 0 : position_of(u, apart, about[POSITIONS]);
        for (Whole change = about[FIRST]; change < about[LAST]; change++) {
            const Whole place = claim.starts[change] + position;
            const int to = u < 0 ? -1 : claim.leads_to[place];
            const Whole v = to < 0 ? 0 : u + (to - position) * apart;
            Whole cell = about[TABLE] + (to < 0 ? 0 : claim.kinds[place] * states * states);
            if (to >= 0 && states > 1) cell += claim.states[u] * states + claim.states[v];
            const Whole epsilon = claim.tables[cell];
            if (to >= 0 && epsilon < FAR) look_at_arc(claim, u, v, zu, answer, epsilon, cell, change, look, count);
            __syncwarp();
        }
    }
    return look;
}

// An axis whose changes are steps to the next position and the one before, with a positive epsilon: how many positions it
// has, how far apart neighbouring ones are, epsilon, and, if states matter, where its table begins and how many it tells
// apart.
enum { LENGTH, STRIDE, EPSILON, CELLS, STATE_COUNT, STEP_COLUMNS };

// Surveys the datasets of a thread, in runs of `span` along the first axis of `steps`.
//
// Most are plain. All their neighbours have the same answer and are on the same side of 1/2, and no value is certain (or so
// large that it may be). If a plain u has slack on all arcs to its neighbours, all arcs from u are private; it is held down
// if the answer is 2 and one of these slacks is 0, or the answer is 1 and one of those on the arcs from its neighbours is.
// The neighbours on the OTHERS other axes are as far away from all datasets of a thread; at the end of an axis, the one at
// its other side stands for the missing one. What is not plain, and what has the least slack, is put into `list`.
template <int OTHERS, bool STATES_MATTER>
__device__ void survey_along(
    const Whole* z, const Byte* answers, const Byte* pinned, const Byte* states, const Whole* tables, Whole size,
    const Whole* steps, Whole span, Whole* list, Whole room, Whole* notes) {
    const Whole length = steps[LENGTH], apart = steps[STRIDE], epsilon = steps[EPSILON];
    const Whole lines = size / length, pieces = (length + span - 1) / span, threads = (Whole)gridDim.x * blockDim.x;
    Whole epsilons[OTHERS + 1], least_slack = FAR, least_source = -1, arcs = 0;
    int arcs_of_least = 0;
    auto put = [&](Whole u) {
        const Whole place = (Whole)atomicAdd((Key*)notes + LISTED, (Key)1);
        if (place < room) list[place] = u;
    };
#pragma unroll
    for (int other = 0; other < OTHERS; other++) epsilons[other] = steps[(other + 1) * STEP_COLUMNS + EPSILON];
    for (Whole task = (Whole)blockIdx.x * blockDim.x + threadIdx.x; task < lines * pieces; task += threads) {
        const Whole piece = pieces > 1 ? task / lines : 0, line = task - piece * lines;
        const Whole base = apart == lines ? line : line / apart * length * apart + line % apart;
        const Whole begin = piece * span;
        const int end = (int)min(span, length - begin), last = (int)(length - 1 - begin);
        Whole upper[OTHERS + 1], lower[OTHERS + 1];  // how far away the neighbours are
        int most_neighbours = 2;               // with those along the axis
#pragma unroll
        for (int other = 0; other < OTHERS; other++) {
            const Whole* about = steps + (other + 1) * STEP_COLUMNS;
            const int position = position_of(base, about[STRIDE], about[LENGTH]);
            const bool up = position + 1 < about[LENGTH], down = position > 0;
            upper[other] = up ? about[STRIDE] : -about[STRIDE];
            lower[other] = down ? -about[STRIDE] : about[STRIDE];
            most_neighbours += up + down;
        }
        Whole u = base + begin * apart, here = z[u];
        Byte answer = answers[u];
        const Whole earlier = begin > 0 ? u - apart : u + apart;
        Whole before = z[earlier];
        Byte answer_before = answers[earlier];
        for (int at = 0; at < end; at++, u += apart) {
            const Whole after = at < last ? z[u + apart] : before;
            const Byte answer_after = at < last ? answers[u + apart] : answer_before;
            Whole from = FAR, to = FAR;  // the least slack on arcs from u and to u, but for z(u)
            unsigned answers_differ = 0, values_differ = 0;
            bool unbound = false;  // an arc has no constraint
            auto look = [&](int axis, Whole epsilon_of_axis, Whole v, Whole w, Whole zv, Whole zw, Byte answer_v, Byte answer_w) {
                answers_differ |= (answer ^ answer_v) | (answer ^ answer_w);
                values_differ |= (unsigned)((here ^ zv) >> 32) | (unsigned)((here ^ zw) >> 32);
                const Whole state_count = STATES_MATTER ? steps[axis * STEP_COLUMNS + STATE_COUNT] : 1;
                if (!STATES_MATTER || state_count == 1) {
                    from = min(from, epsilon_of_axis - max(zv, zw));
                    to = min(to, epsilon_of_axis + min(zv, zw));
                    return;
                }
                const Whole* table = tables + steps[axis * STEP_COLUMNS + CELLS];
                const Whole own = states[u], state_v = states[v], state_w = states[w];
                const Whole to_v = table[own * state_count + state_v], to_w = table[own * state_count + state_w];
                const Whole from_v = table[state_v * state_count + own], from_w = table[state_w * state_count + own];
                unbound |= max(max(to_v, to_w), max(from_v, from_w)) == FAR;
                from = min(from, min(to_v - zv, to_w - zw));
                to = min(to, min(from_v + zv, from_w + zw));
            };
            const Whole forward = at < last ? apart : -apart, back = begin + at > 0 ? -apart : apart;
            look(0, epsilon, u + back, u + forward, before, after, answer_before, answer_after);
#pragma unroll
            for (int other = 0; other < OTHERS; other++) {
                const Whole v = u + upper[other], w = u + lower[other];
                look(other + 1, epsilons[other], v, w, z[v], z[w], answers[v], answers[w]);
            }
            from += here;
            to -= here;
            const unsigned large = 1u << 28;  // half of the upper word of FAR
            const bool same_side = values_differ < large && (unsigned)(here >> 32) + large < 2 * large;
            if (answers_differ || !same_side || unbound || from < 0 || to < 0) {
                put(u);
            } else {
                const int neighbours = most_neighbours - (begin + at == 0) - (at == last);
                arcs += neighbours;
                if (from < least_slack || (from == least_slack && u < least_source)) {
                    least_slack = from;
                    least_source = u;
                    arcs_of_least = neighbours;
                }
                if ((answer == 1 ? to : from) != 0 && !pinned[u]) atomicMin((Key*)notes + LOOSE, (Key)u);
            }
            before = here;
            here = after;
            answer_before = answer;
            answer = answer_after;
        }
    }
    if (least_source >= 0) put(least_source);
    arcs = sum_of_warp(arcs - arcs_of_least);
    if (threadIdx.x % 32 == 0) atomicAdd((Key*)notes + ARCS, (Key)arcs);
}

// Looks at all datasets of a product where people take steps along at most four axes, and lists those that survey_arcs must
// look at; see survey_along. If the list is too short for all, their number in `notes` says so.
extern "C" __global__ void __launch_bounds__(THREADS, 4) survey_steps(
    const Whole* z, const Byte* answers, const Byte* pinned, const Byte* states, const Whole* tables, Whole size,
    const Whole* steps, Whole step_count, Whole span, Whole states_matter, Whole* list, Whole room, Whole* notes) {
#define ALONG(others, matter) \
    survey_along<others, matter>(z, answers, pinned, states, tables, size, steps, span, list, room, notes)
    switch ((int)step_count + (states_matter ? 4 : 0)) {
        case 1: return ALONG(0, false);
        case 2: return ALONG(1, false);
        case 3: return ALONG(2, false);
        case 4: return ALONG(3, false);
        case 5: return ALONG(0, true);
        case 6: return ALONG(1, true);
        case 7: return ALONG(2, true);
        case 8: return ALONG(3, true);
    }
#undef ALONG
}

// Looks closely at `count` datasets: at those of a list or, if `listed` is 0, at all. For each it visits all that one person
// may change (kinds and leads_to, by change and position). A dataset that is not pinned must be held down by a neighbour; a
// chain of such neighbours ends at a pin.
extern "C" __global__ void __launch_bounds__(THREADS) survey_arcs(
    const Whole* z, const Byte* answers, const Byte* pinned, const Byte* states, const Whole* list, Whole listed, Whole count,
    const Whole* axes, Whole axis_count, const int* kinds, const int* leads_to, const Whole* starts, Whole changes,
    const Whole* tables, Whole cells, Key* values, Whole value_places, Key* triples, Whole triple_places, Key* first,
    const Byte* failing, Whole halved, Whole* notes, Whole* worst_of_blocks) {
    __shared__ Worst worst[THREADS];
    const Sets sets = {values, triples, first, value_places, triple_places, cells};
    const Claim claim = {z, axes, kinds, leads_to, starts, tables, answers, states, failing, axis_count, changes, halved != 0, sets, notes};
    Count own = {0, 0, 0, {FAR, FAR, FAR, 0}};
    for (Whole begin = (Whole)blockIdx.x * blockDim.x; begin < count; begin += (Whole)gridDim.x * blockDim.x) {
        const Whole at = begin + threadIdx.x, u = at >= count ? -1 : listed ? list[at] : at;
        const Look look = look_closely(claim, u, own);
        if (u < 0) continue;
        if (look.is_on_boundary && !pinned[u]) atomicMin((Key*)notes + UNPINNED, (Key)u);
        if (!look.is_held && !pinned[u] && (answers[u] == 1 ? z[u] : -z[u]) < FAR) atomicMin((Key*)notes + LOOSE, (Key)u);
    }

    own.arcs = sum_of_warp(own.arcs);
    own.enclosed = sum_of_warp(own.enclosed);
    own.violations = sum_of_warp(own.violations);
    if (threadIdx.x % 32 == 0) {
        atomicAdd((Key*)notes + ARCS, (Key)own.arcs);
        atomicAdd((Key*)notes + ENCLOSED, (Key)own.enclosed);
        atomicAdd((Key*)notes + VIOLATIONS, (Key)own.violations);
    }
    worst[threadIdx.x] = own.worst;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int thread = 1; thread < (int)blockDim.x; thread++) {
            if (is_worse(worst[thread], own.worst)) own.worst = worst[thread];
        }
        Whole* result = worst_of_blocks + 4 * blockIdx.x;
        result[0] = own.worst.slack;
        result[1] = own.worst.source;
        result[2] = own.worst.target;
        result[3] = own.worst.epsilon;
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
    const Whole apart = axis[APART], positions = axis[POSITIONS], state_count = axis[STATES];
    Edge widest = {-1, -1, -1, -1.0}, steepest = widest;
    for (Whole u = (Whole)blockIdx.x * blockDim.x + threadIdx.x; u < size; u += (Whole)gridDim.x * blockDim.x) {
        const int position = (int)(u / apart % positions);
        for (Whole change = axis[FIRST]; change < axis[LAST]; change++) {
            const int to = leads_to[starts[change] + position];
            if (to <= position) continue;  // each edge once
            const Whole v = u + (to - position) * apart, zu = z[u], zv = z[v];
            Whole cell = axis[TABLE] + kinds[starts[change] + position] * state_count * state_count;
            if (state_count > 1) cell += states[u] * state_count + states[v];
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
