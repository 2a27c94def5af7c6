/** The methods that answer with proofs. What they give back is verified, unless there is no verifier. */

import {encodeHex, quantity} from "../bytes/hex.ts";
import {isObject} from "../bytes/values.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import {verifyProof} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {sleep} from "../rpc/abortable.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {readObject} from "./answerFields.ts";
import {type AskedBlock, askNotBefore} from "./askedBlock.ts";
import {
  type BlockName,
  type BlockTag,
  blockNumber,
  encodeBlock,
  getStateRoot,
  readRootedBlock,
} from "./block.ts";
import {MAX_MS, requireWhole} from "./connection.ts";
import {getCoverage} from "./coverage.ts";
import type {
  ProofJson,
  ProvenMultiProof,
  ProvenProof,
  ServerMultiProof,
  ServerProof,
} from "./provenAnswer.ts";
import type {TrustedRoots} from "./trustedRoot.ts";

/** More than twice what a key takes in any answer: the two leaves around it, with 42 nodes each as hex text. */
const KEY_BYTES = 32_768;
/**
 * Errors that time may end: another server behind a balancer has no such block, or none that is finalized; the server knows a
 * finalization before layer 1 shows its root to whoever finds the trusted root.
 */
const NOT_YET = [-32001, -32002, "ROOT_UNKNOWN"];
/** From one look for finality or a root to the next: doubled each time, up to a block of layer 1. */
const FIRST_PAUSE_MS = 500;
const PAUSE_MS = 12_000;

export interface ProofMethods {
  readonly caller: RpcCaller;
  /** undefined: nothing is verified. */
  readonly verifier: TrustedRoots | undefined;
}

/** Asks for the proof together with its block, so that a tag is one block for both. @throws RpcError, ProofError */
export async function getProof(
  {caller, verifier}: ProofMethods,
  {address, storageKeys}: ProofRequest,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  const params = [address, storageKeys, encodeBlock(asked.block)];
  const request = {method: "chain_getProofAt", params, ...boundOf(storageKeys)};
  const ask = async () => {
    const fields = readObject("result", await caller.call(request, signal));
    return {claimed: readRootedBlock("block", fields.block), proof: fields.proof as ProofJson};
  };
  const answer = await askNotBefore(asked, caller.retry, signal, ask, ({claimed}) => claimed.number);
  const {claimed, proof} = answer;
  const {number} = claimed;
  const named = blockNumber(asked.block);
  check(named === undefined || number === named, "block.number", `expected ${named}, got ${number}`);
  if (verifier === undefined) return {block: number, proof};
  const root = await verifier.of(number, signal);
  const stateRoot = encodeHex(root);
  const rule = () => `expected ${stateRoot}, the trusted root of block ${number}, got ${claimed.stateRoot}`;
  check(claimed.stateRoot === stateRoot, "block.stateRoot", rule);
  return {block: number, stateRoot, ...verifyProof(verifier.suite, root, address, storageKeys, proof), proof};
}

/**
 * Waits until a block is finalized, and then until there is a trusted root of it.
 *
 * @param timeoutMs - in all, at most a day
 * @throws RpcError: -32002 if the block is not finalized in this time, ROOT_UNKNOWN if there is no root of it; ProofError
 */
export async function waitForProof(
  methods: ProofMethods,
  request: ProofRequest,
  asked: AskedBlock<BlockName>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  const {caller} = methods;
  const endMs = performance.now() + requireWhole("timeoutMs", timeoutMs, 0, MAX_MS);
  const block = await findNumber(caller, asked, signal);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS)) {
    const {finalized} = await getCoverage(caller, signal);
    const leftMs = endMs - performance.now();
    if (leftMs <= 0 || (finalized !== undefined && block <= finalized)) {
      try {
        return await getProof(methods, request, {block, atLeast: undefined}, signal);
      } catch (error) {
        if (leftMs <= 0 || !NOT_YET.some(code => hasCode(error, code))) throw error;
      }
    }
    await sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/** A tag is resolved first: the proof's bytes do not name their block. @throws RpcError, ProofError */
export async function getMultiProof(
  {caller, verifier}: ProofMethods,
  entries: readonly ProofRequest[],
  {block, atLeast}: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenMultiProof | ServerMultiProof> {
  const number = await findNumber(caller, {block: provable(block), atLeast}, signal);
  const keyCount = entries.reduce((sum, {storageKeys}) => sum + 1 + storageKeys.length, 0);
  const request = {
    method: "chain_getMultiProof",
    params: [entries.map(({address, storageKeys}) => ({address, storageKeys})), quantity(number)],
    takesBytes: true,
    maxAnswerBytes: keyCount * KEY_BYTES,
  };
  const result = await caller.call(request, signal);
  // Not every transport and server sends bytes. The others send their hex.
  const proof = result instanceof Uint8Array ? result : readBytes("result", result);
  if (verifier === undefined) return {block: number, proof};
  const root = await verifier.of(number, signal);
  const proven = verifyMultiProof(verifier.suite, root, entries, proof);
  return {block: number, stateRoot: encodeHex(root), entries: proven, proof};
}

/** @throws as `askNotBefore` */
function findNumber(
  caller: RpcCaller,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const {block} = asked;
  const find = async () => blockNumber(block) ?? (await getStateRoot(caller, block, signal)).number;
  return askNotBefore(asked, caller.retry, signal, find, number => number);
}

function provable(block: BlockName): BlockName {
  return blockNumber(block) ?? provableTag(block);
}

/** Proofs know no block above the newest finalized one. @returns what to ask for unless `block` is a number */
export function provableTag(block: BlockName): BlockTag {
  return block === "earliest" ? block : "finalized";
}

function boundOf(storageKeys: readonly string[]): {readonly maxAnswerBytes: number} {
  return {maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES};
}

/** Errors of other libraries have the code too. */
function hasCode(error: unknown, code: number | string): boolean {
  return isObject(error) && error.code === code;
}
