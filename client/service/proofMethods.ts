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
/** Error of JSON-RPC: the block is not finalized yet. */
const NOT_FINALIZED = -32002;
/** One waiting call waits no longer, because proxies close connections that are silent for a minute. */
const WAIT_STEP_MS = 30_000;
/** From one look for a root to the next: doubled each time, up to a block of layer 1. */
const FIRST_ROOT_PAUSE_MS = 500;
const ROOT_PAUSE_MS = 12_000;

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
  return prove(verifier, {address, storageKeys}, number, proof, signal, claimed.stateRoot);
}

/**
 * @param claimed - the state root that the server names; undefined if the answer names none
 * @throws ProofError; what the trusted root's source throws
 */
async function prove(
  roots: TrustedRoots,
  {address, storageKeys}: ProofRequest,
  block: bigint,
  proof: ProofJson,
  signal: AbortSignal | undefined,
  claimed?: string,
): Promise<ProvenProof> {
  const root = await roots.of(block, signal);
  const stateRoot = encodeHex(root);
  const rule = () => `expected ${stateRoot}, the trusted root of block ${block}, got ${claimed}`;
  check(claimed === undefined || claimed === stateRoot, "block.stateRoot", rule);
  return {block, stateRoot, ...verifyProof(roots.suite, root, address, storageKeys, proof), proof};
}

/**
 * Waits until a block is finalized, in calls of half a minute, and then until there is a trusted root of it.
 *
 * @param timeoutMs - in all, at most a day
 * @throws RpcError: -32002 if the block is not finalized in this time, ROOT_UNKNOWN if there is no root of it; ProofError
 */
export async function waitForProof(
  {caller, verifier}: ProofMethods,
  {address, storageKeys}: ProofRequest,
  asked: AskedBlock<BlockName>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  const endMs = performance.now() + requireWhole("timeoutMs", timeoutMs, 0, MAX_MS);
  const number = await findNumber(caller, asked, signal);
  for (;;) {
    const leftMs = Math.max(0, Math.round(endMs - performance.now()));
    const waitMs = Math.min(leftMs, caller.longestWaitMs ?? WAIT_STEP_MS);
    const beganMs = performance.now();
    const params = [address, storageKeys, quantity(number), waitMs];
    try {
      const request = {method: "chain_waitForProof", params, waitMs, ...boundOf(storageKeys)};
      const proof = (await caller.call(request, signal)) as ProofJson;
      if (verifier === undefined) return {block: number, proof};
      return await verifyAwaited(verifier, {address, storageKeys}, number, proof, endMs, signal);
    } catch (error) {
      if (!hasCode(error, NOT_FINALIZED) || leftMs === 0) throw error;
      // A server that does not wait, or waits less, is not asked more often than one that does.
      await sleep(Math.max(0, beganMs + waitMs - performance.now()), signal);
    }
  }
}

/** The server may know a finalization before layer 1 shows its root to whoever finds the trusted root. @throws as above */
async function verifyAwaited(
  roots: TrustedRoots,
  request: ProofRequest,
  block: bigint,
  proof: ProofJson,
  endMs: number,
  signal: AbortSignal | undefined,
): Promise<ProvenProof> {
  for (let pauseMs = FIRST_ROOT_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, ROOT_PAUSE_MS)) {
    try {
      return await prove(roots, request, block, proof, signal);
    } catch (error) {
      const leftMs = endMs - performance.now();
      if (!hasCode(error, "ROOT_UNKNOWN") || leftMs <= 0) throw error;
      await sleep(Math.min(pauseMs, leftMs), signal);
    }
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
