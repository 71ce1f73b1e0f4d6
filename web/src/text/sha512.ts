/** SHA-512 in plain code: browsers offer theirs only over https, and a cluster's page may be plain http. */
const MASK = (1n << 64n) - 1n;
const PRIMES = firstPrimes(80);
const K = PRIMES.map((prime) => fraction(prime, 3n));
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2n));

export function sha512(text: string): string {
  const state = [...START];
  const bytes = padded(new TextEncoder().encode(text));
  for (let at = 0; at < bytes.length; at += 128) mix(state, bytes.subarray(at, at + 128));
  return state.map((word) => word.toString(16).padStart(16, "0")).join("");
}

function padded(message: Uint8Array): Uint8Array {
  const out = new Uint8Array(Math.ceil((message.length + 17) / 128) * 128);
  out.set(message);
  out[message.length] = 0x80;
  new DataView(out.buffer).setBigUint64(out.length - 8, BigInt(message.length) * 8n);
  return out;
}

function mix(state: bigint[], block: Uint8Array): void {
  const view = new DataView(block.buffer, block.byteOffset, 128);
  const w: bigint[] = Array.from({ length: 16 }, (_, i) => view.getBigUint64(i * 8));
  for (let i = 16; i < 80; i++) {
    const a = w[i - 15]!;
    const b = w[i - 2]!;
    const s0 = turn(a, 1n) ^ turn(a, 8n) ^ (a >> 7n);
    const s1 = turn(b, 19n) ^ turn(b, 61n) ^ (b >> 6n);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) & MASK;
  }
  let [a, b, c, d, e, f, g, h] = state as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  for (let i = 0; i < 80; i++) {
    const t1 = h + (turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)) + ((e & f) ^ (~e & MASK & g)) + K[i]! + w[i]!;
    const t2 = (turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) & MASK, c, b, a, (t1 + t2) & MASK];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = (state[i]! + word) & MASK;
  });
}

const turn = (x: bigint, by: bigint): bigint => ((x >> by) | (x << (64n - by))) & MASK;

/** First 64 bits after the point of the `degree`-th root of `n`. */
function fraction(n: number, degree: bigint): bigint {
  const target = BigInt(n) << (64n * degree);
  let low = 0n;
  let high = 1n << 72n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= target) low = middle;
    else high = middle;
  }
  return low & MASK;
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p)) found.push(n);
  return found;
}
