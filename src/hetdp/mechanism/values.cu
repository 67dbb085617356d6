// Reads the values of a mechanism that stays on the device: how many are no better than a coin, the worst, and the sum
// of all errors. z is a whole number of units (2^-40), and FAR stands for infinity.

typedef long long Whole;
typedef unsigned char Byte;

#define FAR (1LL << 61)
#define UNITS 1099511627776.0
#define THREADS 256

enum { POSITIONS, APART, FACTORS, COLUMNS };  // columns of an axis: positions, distance, start of its factors
enum { WORSE, EVEN };                         // places of the notes

// The probability of the wrong answer; `better` is z, signed so that larger is better.
__device__ inline double error_at(Whole better, bool halved) {
    if (better == FAR) return 0.0;
    const double tail = exp(-fabs((double)better / UNITS)), less = halved ? 0.5 * tail : tail / (1.0 + tail);
    return better < 0 ? 1.0 - less : less;
}

// Counts datasets that are worse than a coin, and as bad; finds the least z of each block, signed so that larger is
// better, and the first dataset that has it; and adds weight * error. A weight is a product of factors, one for each axis.
extern "C" __global__ void __launch_bounds__(THREADS) measure_values(
    const Whole* z, const Byte* answers, Whole size, const Whole* axes, Whole axis_count, const double* factors,
    Whole halved, Whole* notes, Whole* worst_of_blocks, double* sums) {
    __shared__ Whole least[THREADS][2];
    __shared__ double added[THREADS];
    Whole worst = FAR, at_worst = -1, worse = 0, even = 0;
    double sum = 0.0, lost = 0.0;  // what was lost by rounding is added to the next
    for (Whole at = (Whole)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += (Whole)gridDim.x * blockDim.x) {
        const Whole better = answers[at] == 1 ? z[at] : -z[at];
        worse += better < 0;
        even += better == 0;
        if (at_worst < 0 || better < worst) {
            worst = better;
            at_worst = at;
        }
        double term = error_at(better, halved);
        for (Whole axis = 0; axis < axis_count; axis++) {
            const Whole* own = axes + axis * COLUMNS;
            term *= factors[own[FACTORS] + at / own[APART] % own[POSITIONS]];
        }
        const double next = term - lost, total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    atomicAdd((unsigned long long*)notes + WORSE, (unsigned long long)worse);
    atomicAdd((unsigned long long*)notes + EVEN, (unsigned long long)even);
    least[threadIdx.x][0] = worst;
    least[threadIdx.x][1] = at_worst;
    added[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int thread = 1; thread < (int)blockDim.x; thread++) {
            sum += added[thread];
            const Whole value = least[thread][0], at = least[thread][1];
            if (at >= 0 && (at_worst < 0 || value < worst || (value == worst && at < at_worst))) {
                worst = value;
                at_worst = at;
            }
        }
        worst_of_blocks[2 * blockIdx.x] = worst;
        worst_of_blocks[2 * blockIdx.x + 1] = at_worst;
        sums[blockIdx.x] = sum;
    }
}
