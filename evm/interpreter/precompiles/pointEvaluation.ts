/**
 * The point evaluation precompile (EIP-4844), on noble's BLS12-381.
 *
 *   versioned hash 32 | z 32 | y 32 | commitment 48 | proof 48
 *
 * A KZG proof that the polynomial with commitment C has the value y at z is a point P with
 *
 *   e(C - [y]G1, G2) = e(P, [tau]G2 - [z]G2)
 *
 * so verification needs only one point of the trusted setup.
 */
import {createHash} from "node:crypto";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {encodeNumber, readNumber} from "./numbers.ts";
import {type Precompile, require} from "./precompile.ts";

/** [tau]G2 of the mainnet ceremony: `g2_monomial`[1] in the trusted setup of ethereum/consensus-specs. */
const TAU_G2 =
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
  "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const {Fr, Fp12} = bls12_381.fields;
const tauG2 = G2.fromHex(TAU_G2);

const INPUT_BYTES = 192;
const WORD = 32;
const POINT_BYTES = 48;
const HASH_VERSION = 1;
const INFINITY = Uint8Array.of(0xc0, ...new Uint8Array(POINT_BYTES - 1));
/** Field elements per blob, and the order of the field. */
const OUTPUT = Buffer.concat([encodeNumber(4096n, WORD), encodeNumber(Fr.ORDER, WORD)]);

export const pointEvaluation: Precompile = {
  price: () => 50_000n,
  *run(data) {
    require(data.length === INPUT_BYTES, `expected ${INPUT_BYTES} bytes`);
    const commitment = data.subarray(3 * WORD, 3 * WORD + POINT_BYTES);
    const hash = createHash("sha256").update(commitment).digest();
    hash[0] = HASH_VERSION;
    require(hash.equals(data.subarray(0, WORD)), "the versioned hash is not that of the commitment");
    yield "long";
    const [z, y] = [readNumber(data, WORD, WORD), readNumber(data, 2 * WORD, WORD)];
    const proof = data.subarray(3 * WORD + POINT_BYTES);
    require(verifyPointEvaluation(commitment, z, y, proof), "the proof is wrong");
    return new Uint8Array(OUTPUT);
  },
};

/** @param commitment, proof - 48 bytes each, compressed points. @throws PrecompileRefusal for invalid input */
export function verifyPointEvaluation(
  commitment: Uint8Array,
  z: bigint,
  y: bigint,
  proof: Uint8Array,
): boolean {
  const [c, p] = [readPoint(commitment), readPoint(proof)];
  require(z < Fr.ORDER && y < Fr.ORDER, "a number is not in the field");
  const shifted = c.subtract(G1.BASE.multiplyUnsafe(y));
  const divisor = tauG2.subtract(G2.BASE.multiplyUnsafe(z));
  // A pairing with the point at infinity is 1, but noble refuses this point.
  const pairs = [
    {g1: shifted, g2: G2.BASE.negate()},
    {g1: p, g2: divisor},
  ].filter(({g1, g2}) => !g1.is0() && !g2.is0());
  return pairs.length === 0 || Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE);
}

function readPoint(bytes: Uint8Array): InstanceType<typeof G1> {
  if (Buffer.compare(bytes, INFINITY) === 0) return G1.ZERO;
  try {
    const point = G1.fromBytes(bytes);
    point.assertValidity();
    return point;
  } catch {
    require(false, "a point is not in G1");
    return G1.ZERO;
  }
}
