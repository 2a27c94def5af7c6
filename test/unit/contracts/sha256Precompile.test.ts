/** Sha256ProofVerifier on a chain whose SHA-256 is missing or fails: it says so, and takes nothing else for a hash. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {createEVM, EVMError, type ExecResult, type PrecompileInput} from "@ethereumjs/evm";
import {createAddressFromString} from "@ethereumjs/util";
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite, word} from "../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import {readArtefact} from "../../support/contracts/readArtefact.ts";
import {CompactCases} from "../../support/reference/compactCases.ts";
import {isSoak} from "../../support/soak.ts";

const SHA256 = createAddressFromString(`0x${"00".repeat(19)}02`);
const {abi, deployedBytecode} = readArtefact("Sha256ProofVerifier");
const METHOD = AbiFunction.fromAbi(abi as never, "verifySlots" as never) as AbiFunction.AbiFunction;

const {root, request, bytes} = new CompactCases(sha256Suite).prove("slots");
const [{address, storageKeys}] = request as readonly [ProofRequest];
const words = storageKeys.map(key => encodeHex(word(BigInt(key))));
const DATA = decodeHex(
  AbiFunction.encodeData(METHOD, [encodeHex(root), address, words, encodeHex(bytes)] as never),
);

type Precompile = (input: PrecompileInput) => ExecResult;

/** @returns what asks for the slots with this SHA-256 in place of the precompile: their values, or the error's name or kind */
async function createVerifier(precompile?: Precompile): Promise<(gas?: bigint) => Promise<unknown>> {
  const code = decodeHex(deployedBytecode);
  const evm = await createEVM({
    customPrecompiles: [
      precompile === undefined ? {address: SHA256} : {address: SHA256, function: precompile},
    ],
  });
  return async (gasLimit = 30_000_000n) => {
    const {exceptionError, returnValue} = await evm.runCode({code, data: DATA, gasLimit});
    const result = encodeHex(returnValue) as never;
    if (exceptionError === undefined) return AbiFunction.decodeResult(METHOD, result);
    return returnValue.length === 0 ? exceptionError.error : AbiError.fromAbi(abi as never, result).name;
  };
}

function digest({data}: PrecompileInput): ExecResult {
  return {executionGasUsed: 0n, returnValue: sha256Suite.hash(data)};
}

const NOTHING: ExecResult = {executionGasUsed: 0n, returnValue: new Uint8Array()};

test("without the precompile no proof is verified", async () => {
  assert.equal(await (await createVerifier())(), "HashFailed");
});

const VALUES = [16n, 17n, 0n].map(value => encodeHex(word(value)));

test("a hash that fails on the way is refused, and from one on that returns nothing it is HashFailed", async () => {
  let hashes = 0;
  let hash: Precompile = digest;
  const verify = await createVerifier(input => {
    hashes++;
    return hash(input);
  });
  assert.deepEqual(await verify(), VALUES);
  const count = hashes;
  assert.ok(count > 80, `${count}`);
  // No EVM lets a single hash of a path fail and has gas for the next one. So that need not have a name of its own.
  const failed = {...NOTHING, exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS)};
  for (let at = 1; at <= count; at += isSoak() ? 5 : 29) {
    hashes = 0;
    hash = input => (hashes === at ? failed : digest(input));
    assert.match(String(await verify()), /^(HashFailed|RootMismatch)$/, `hash ${at} of ${count} failed`);
  }
  for (let at = 1; at <= count; at += isSoak() ? 17 : 71) {
    hashes = 0;
    hash = input => (hashes >= at ? NOTHING : digest(input));
    assert.equal(await verify(), "HashFailed", `nothing from hash ${at} of ${count} on`);
  }
});

test("with too little gas for any of its hashes a proof is not verified", async () => {
  const verify = await createVerifier(input => {
    const executionGasUsed = 60n + 12n * BigInt(Math.ceil(input.data.length / 32));
    return executionGasUsed > input.gasLimit
      ? {
          ...NOTHING,
          executionGasUsed: input.gasLimit,
          exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS),
        }
      : {...digest(input), executionGasUsed};
  });
  let enough = 100_000n;
  assert.deepEqual(await verify(enough), VALUES);
  // A level takes some 300 gas. The step has no factor in common with it, so gas ends at many places of a level.
  const step = isSoak() ? 701n : 4999n;
  for (let gas = step; gas < enough; gas += step) {
    const outcome = await verify(gas);
    if (Array.isArray(outcome)) enough = gas;
    else assert.equal(outcome, EVMError.errorMessages.OUT_OF_GAS, `with ${gas} gas`);
  }
  assert.ok(enough > 25_000n && enough < 60_000n, `${enough} gas`);
});
