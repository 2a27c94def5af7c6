/**
 * Keccak-256 (the padding from before SHA-3, as Ethereum uses it), written from FIPS 202 with big integers.
 *
 * For the keccakCodeHash of accounts and the round constants of Poseidon2: the verifier shares no hash
 * library with the product. Lane (x, y) of the state is `lanes[x + 5 * y]`, 64 bits.
 */
const RATE_BYTES = 136;
const MASK = (1n << 64n) - 1n;

function rotate(lane: bigint, bits: number): bigint {
  const by = BigInt(bits % 64);
  return ((lane << by) | (lane >> (64n - by))) & MASK;
}

/** One bit per step of the linear feedback shift register x^8 + x^6 + x^5 + x^4 + 1 (FIPS 202, algorithm 5). */
function* roundConstantBits(): Generator<number, never> {
  let register = 1;
  for (;;) {
    yield register & 1;
    register <<= 1;
    if (register & 0x100) register ^= 0x171;
  }
}

function permute(lanes: bigint[]): void {
  const at = (x: number, y: number) => lanes[(x % 5) + 5 * (y % 5)] as bigint;
  const bits = roundConstantBits();
  for (let round = 0; round < 24; round++) {
    // theta
    const column = [0, 1, 2, 3, 4].map(x => at(x, 0) ^ at(x, 1) ^ at(x, 2) ^ at(x, 3) ^ at(x, 4));
    for (let x = 0; x < 5; x++) {
      const mix = (column[(x + 4) % 5] as bigint) ^ rotate(column[(x + 1) % 5] as bigint, 1);
      for (let y = 0; y < 5; y++) lanes[x + 5 * y] = at(x, y) ^ mix;
    }
    // rho and pi
    const turned = [...lanes];
    let [x, y] = [1, 0];
    for (let t = 0; t < 24; t++) {
      const lane = rotate(at(x, y), ((t + 1) * (t + 2)) / 2);
      [x, y] = [y, (2 * x + 3 * y) % 5];
      turned[x + 5 * y] = lane;
    }
    // chi
    for (let row = 0; row < 25; row += 5) {
      for (let i = 0; i < 5; i++) {
        const [a, b, c] = [turned[row + i], turned[row + ((i + 1) % 5)], turned[row + ((i + 2) % 5)]] as [
          bigint,
          bigint,
          bigint,
        ];
        lanes[row + i] = a ^ (~b & MASK & c);
      }
    }
    // iota: bit 2^j - 1 of the lane for j = 0..6
    for (let j = 0; j < 7; j++) lanes[0] = at(0, 0) ^ (BigInt(bits.next().value) << BigInt(2 ** j - 1));
  }
}

/** @returns 32 bytes */
export function keccak256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(message.length / RATE_BYTES) + 1) * RATE_BYTES);
  padded.set(message);
  padded[message.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80;
  const view = new DataView(padded.buffer);
  const lanes = new Array<bigint>(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES / 8; i++)
      lanes[i] = (lanes[i] as bigint) ^ view.getBigUint64(block + 8 * i, true);
    permute(lanes);
  }
  const digest = new Uint8Array(32);
  for (let i = 0; i < 4; i++) new DataView(digest.buffer).setBigUint64(8 * i, lanes[i] as bigint, true);
  return digest;
}
