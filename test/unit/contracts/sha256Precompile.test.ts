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
import {readArtefact} from "../../../contracts/artefacts.ts";
import {CompactCases} from "../../support/reference/compactCases.ts";

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

/** @returns what asks for the slots with this SHA-256 in place of the precompile: their values, or the error's name */
async function createVerifier(precompile?: Precompile): Promise<() => Promise<unknown>> {
  const code = decodeHex(`0x${deployedBytecode}`);
  const evm = await createEVM({
    customPrecompiles: [
      precompile === undefined ? {address: SHA256} : {address: SHA256, function: precompile},
    ],
  });
  return async () => {
    const {exceptionError, returnValue} = await evm.runCode({code, data: DATA, gasLimit: 30_000_000n});
    const result = encodeHex(returnValue) as never;
    return exceptionError === undefined
      ? AbiFunction.decodeResult(METHOD, result)
      : AbiError.fromAbi(abi as never, result).name;
  };
}

function digest({data}: PrecompileInput): ExecResult {
  return {executionGasUsed: 0n, returnValue: sha256Suite.hash(data)};
}

const NOTHING: ExecResult = {executionGasUsed: 0n, returnValue: new Uint8Array()};

test("without the precompile no proof is verified", async () => {
  assert.equal(await (await createVerifier())(), "HashFailed");
});

test("a hash that fails on the way is noticed, and so is one from which on nothing is returned", async () => {
  let hashes = 0;
  let hash: Precompile = digest;
  const verify = await createVerifier(input => {
    hashes++;
    return hash(input);
  });
  assert.deepEqual(
    await verify(),
    [16n, 17n, 0n].map(value => encodeHex(word(value))),
  );
  const count = hashes;
  assert.ok(count > 80, `${count}`);
  const failed = {...NOTHING, exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS)};
  for (let at = 1; at <= count; at += 5) {
    hashes = 0;
    hash = input => (hashes === at ? failed : digest(input));
    assert.equal(await verify(), "HashFailed", `hash ${at} of ${count} failed`);
  }
  for (let at = 1; at <= count; at += 17) {
    hashes = 0;
    hash = input => (hashes >= at ? NOTHING : digest(input));
    assert.equal(await verify(), "HashFailed", `nothing from hash ${at} of ${count} on`);
  }
});
