/** Poseidon2 over KoalaBear in bigints, line by line from docs/proofs.md, section 8. Slow and obvious. */
import {keccak_256} from "@noble/hashes/sha3.js";

const P = 2130706433n;
const [WIDTH, FULL_ROUNDS, PARTIAL_ROUNDS] = [16, 6, 21];
const M4 = [
  [2n, 3n, 1n, 1n],
  [1n, 2n, 3n, 1n],
  [1n, 1n, 2n, 3n],
  [3n, 1n, 1n, 2n],
];
/** 1/2, as 2 * (p + 1)/2 = 1. */
const HALF = (P + 1n) / 2n;
const D = [
  ...[-2n, 1n, 2n, HALF, 3n, 4n, -HALF, -3n, -4n, HALF ** 8n, HALF ** 3n, HALF ** 24n],
  ...[-(HALF ** 8n), -(HALF ** 3n), -(HALF ** 4n), -(HALF ** 24n)],
].map(d => d % P);

let s = keccak_256(new TextEncoder().encode("Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]"));
const CONSTANTS = Array.from({length: FULL_ROUNDS + PARTIAL_ROUNDS}, (_, round) =>
  Array.from({length: isFull(round) ? WIDTH : 1}, () => {
    s = keccak_256(s);
    return BigInt(`0x${Buffer.from(s).toString("hex")}`) % P;
  }),
);

function isFull(round: number): boolean {
  return round < FULL_ROUNDS / 2 || round >= FULL_ROUNDS / 2 + PARTIAL_ROUNDS;
}

/** circ(2 M4, M4, M4, M4): a block of M4 on the diagonal counts twice. */
function multiplyExternal(x: readonly bigint[]): bigint[] {
  return x.map((_, row) =>
    x.reduce((sum, value, column) => {
      const isDiagonal = Math.floor(row / 4) === Math.floor(column / 4);
      return sum + (isDiagonal ? 2n : 1n) * (M4[row % 4]?.[column % 4] as bigint) * value;
    }, 0n),
  );
}

function multiplyInternal(x: readonly bigint[]): bigint[] {
  const sum = x.reduce((a, b) => a + b);
  return x.map((value, i) => sum + (D[i] as bigint) * value);
}

function permute(state: readonly bigint[]): bigint[] {
  let x = multiplyExternal(state);
  for (const [round, constants] of CONSTANTS.entries()) {
    x = x.map((value, i) => (constants[i] === undefined ? value : (value + constants[i]) ** 3n));
    x = (isFull(round) ? multiplyExternal(x) : multiplyInternal(x)).map(value => ((value % P) + P) % P);
  }
  return x;
}

/** @param message - whole elements of 4 bytes below p @returns 32 bytes */
export function plainPoseidon2(message: Uint8Array): Uint8Array {
  let h = new Array<bigint>(8).fill(0n);
  for (let at = 0; at < message.length; at += 32) {
    const block = Buffer.from(message.subarray(at, at + 32))
      .toString("hex")
      .padStart(64, "0");
    const m = (block.match(/.{8}/g) ?? []).map(element => BigInt(`0x${element}`));
    const t = permute([...h, ...m]);
    h = m.map((element, i) => ((t[8 + i] as bigint) + element) % P);
  }
  return Buffer.from(h.map(element => element.toString(16).padStart(8, "0")).join(""), "hex");
}

/** Two bytes to an element of four; if their number is odd, the last block's first element has one of them. */
export function plainSafe(bytes: Uint8Array): Uint8Array {
  const left = [...bytes];
  const count = Math.ceil(bytes.length / 2);
  const short = bytes.length % 2 === 1 ? 8 * Math.floor((count - 1) / 8) : -1;
  return Uint8Array.from(
    Array.from({length: count}, (_, i) =>
      i === short ? [0, 0, 0, ...left.splice(0, 1)] : [0, 0, ...left.splice(0, 2)],
    ).flat(),
  );
}
