/**
 * The part of KZG that block execution needs: the point evaluation precompile (EIP-4844), on noble's BLS12-381.
 *
 * A proof that the polynomial behind commitment C has the value y at z is a point P with
 *
 *   e(C - [y]G1, G2) = e(P, [tau]G2 - [z]G2)
 *
 * so one point of the trusted setup is enough. Blobs themselves never reach a block. The other functions of
 * @ethereumjs' KZG serve transactions on their way through a network, so they are not needed here.
 */
import type {KZG} from "@ethereumjs/util";
import {bls12_381} from "@noble/curves/bls12-381.js";

/** [tau]G2 of the mainnet ceremony: entry 1 of `g2_monomial`, ethereum/consensus-specs presets/mainnet/trusted_setups. */
const TAU_G2 =
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
  "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const Fr = bls12_381.fields.Fr;
const tauG2 = G2.fromHex(TAU_G2);

export const kzg = {verifyProof: verifyPointEvaluation} as Pick<KZG, "verifyProof"> as KZG;

/**
 * All hex with 0x: points 48 bytes, compressed; `z` and `y` 32 bytes, big-endian.
 *
 * @throws Error C_KZG_BADARGS, by which the precompile recognises malformed input
 */
export function verifyPointEvaluation(commitment: string, z: string, y: string, proof: string): boolean {
  const c = parsePoint(commitment);
  const p = parsePoint(proof);
  const zScalar = parseScalar(z);
  const yScalar = parseScalar(y);
  const shifted = c.subtract(G1.BASE.multiplyUnsafe(yScalar));
  const divisor = tauG2.subtract(G2.BASE.multiplyUnsafe(zScalar));
  // Pairings with the point at infinity are 1. noble's batch refuses that point, so such pairs are left out.
  const pairs = [
    {g1: shifted, g2: G2.BASE.negate()},
    {g1: p, g2: divisor},
  ].filter(({g1, g2}) => !g1.is0() && !g2.is0());
  if (pairs.length === 0) return true;
  return bls12_381.fields.Fp12.eql(bls12_381.pairingBatch(pairs), bls12_381.fields.Fp12.ONE);
}

function parsePoint(hex: string): InstanceType<typeof G1> {
  try {
    const point = G1.fromHex(hex.slice(2));
    point.assertValidity();
    return point;
  } catch (error) {
    if (isInfinity(hex)) return G1.ZERO;
    throw new Error("C_KZG_BADARGS: not a point of G1", {cause: error});
  }
}

function isInfinity(hex: string): boolean {
  return /^0xc0(00){47}$/i.test(hex);
}

function parseScalar(hex: string): bigint {
  const scalar = BigInt(hex);
  if (scalar >= Fr.ORDER) throw new Error("C_KZG_BADARGS: not a field element");
  return scalar;
}
