/** The methods that answer with proofs. What they give back is verified, unless there is no verifier. */

import {encodeHex, quantity} from "../bytes/hex.ts";
import {isObject} from "../bytes/values.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import {verifyProof} from "../proof/proofVerifier.ts";
import type {ProofEntry} from "../proof/request.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {askAgain, Pauses} from "../rpc/pauses.ts";
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
export const KEY_BYTES = 32_768;
/** More than the longest header takes as hex text. */
const HEADER_BYTES = 1 << 18;
/** Error of JSON-RPC: the block is not finalized yet. */
const NOT_FINALIZED = -32002;
/** A wait goes on while the server is busy or away for so long. */
const RETRY_MS = 30_000;

export interface ProofMethods {
  readonly caller: RpcCaller;
  /** undefined: nothing is verified. */
  readonly verifier: TrustedRoots | undefined;
}

/** Asks for the proof together with its block, so that a tag is one block for both. @throws RpcError, ProofError */
export async function getProof(
  {caller, verifier}: ProofMethods,
  request: ProofEntry,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  return prove(verifier, request, await askProof(caller, request, asked, signal), signal);
}

/** An answer that is not verified. */
interface AskedProof extends ServerProof {
  /** The state root that the server names. */
  readonly claimed: string;
  /** The block's, in hex: only with the suite keccak. */
  readonly header: unknown;
}

/** @param suite - of the proof. Default: that of the server's trees. @throws RpcError; ProofError for another block */
export async function askProof(
  caller: RpcCaller,
  {address, storageKeys = []}: ProofEntry,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
  ...suite: readonly string[]
): Promise<AskedProof> {
  const request = {
    method: "chain_getProofAt",
    params: [address, storageKeys, encodeBlock(asked.block), ...suite],
    maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES + suite.length * HEADER_BYTES,
  };
  const ask = async (): Promise<AskedProof> => {
    const fields = readObject("result", await caller.call(request, signal));
    const {number, stateRoot} = readRootedBlock("block", fields.block);
    const {proof, headerRlp: header} = fields;
    return {block: number, claimed: stateRoot, proof: proof as ProofJson, header};
  };
  const answer = await askNotBefore(asked, caller.timeoutMs, signal, ask, ({block}) => block);
  const named = blockNumber(asked.block);
  const rule = `expected ${named}, got ${answer.block}`;
  check(named === undefined || answer.block === named, "block.number", rule);
  return answer;
}

/** @throws ProofError; what the trusted root's source throws */
async function prove(
  roots: TrustedRoots | undefined,
  {address, storageKeys = []}: ProofEntry,
  {block, claimed, proof}: AskedProof,
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  if (roots === undefined) return {block, proof};
  const root = await roots.of(block, signal);
  const stateRoot = encodeHex(root);
  const rule = `expected ${stateRoot}, the trusted root of block ${block}, got ${claimed}`;
  check(claimed === stateRoot, "block.stateRoot", rule);
  return {block, stateRoot, ...verifyProof(roots.suite, root, address, storageKeys, proof), proof};
}

/**
 * Looks until the server says that the block is finalized, asks for its proof, and looks until there is a trusted root of it: the server
 * may know a finalization before layer 1 shows its root.
 *
 * @throws RpcError -32002 if the block is not finalized in time; ROOT_UNKNOWN if its root is not known in time; ProofError
 */
export async function waitForProof(
  {caller, verifier}: ProofMethods,
  request: ProofEntry,
  asked: AskedBlock<BlockName>,
  {timeoutMs, intervalMs}: {readonly timeoutMs: number; readonly intervalMs: number},
  signal: AbortSignal | undefined,
): Promise<ProvenProof | ServerProof> {
  requireWhole("timeoutMs", timeoutMs, 0, MAX_MS);
  requireWhole("intervalMs", intervalMs, 1, MAX_MS);
  const pauses = new Pauses(timeoutMs, intervalMs, signal);
  const block = await findNumber(caller, asked, signal);
  const answer = await awaitProof(caller, request, block, pauses, signal);
  for (;;)
    try {
      return await prove(verifier, request, answer, signal);
    } catch (error) {
      if (!hasCode(error, "ROOT_UNKNOWN") || !(await pauses.wait())) throw error;
    }
}

/** When the time is over, the proof is asked for nevertheless: the server's error says what is missing. */
async function awaitProof(
  caller: RpcCaller,
  request: ProofEntry,
  block: bigint,
  pauses: Pauses,
  signal: AbortSignal | undefined,
): Promise<AskedProof> {
  for (let isOver = false; ; isOver = !(await pauses.wait())) {
    const {finalized = -1n} = await askAgain(RETRY_MS, signal, () => getCoverage(caller, signal));
    if (finalized < block && !isOver) continue;
    try {
      return await askProof(caller, request, {block, atLeast: undefined}, signal);
    } catch (error) {
      // Behind a balancer, this answer may come from a server that is behind.
      if (isOver || !hasCode(error, NOT_FINALIZED)) throw error;
    }
  }
}

/** @throws RpcError, ProofError */
export async function getMultiProof(
  {caller, verifier}: ProofMethods,
  entries: readonly ProofEntry[],
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenMultiProof | ServerMultiProof> {
  const {block, proof} = await askMultiProof(caller, entries, asked, signal);
  if (verifier === undefined) return {block, proof};
  const root = await verifier.of(block, signal);
  const proven = verifyMultiProof(verifier.suite, root, entries, proof);
  return {block, stateRoot: encodeHex(root), entries: proven, proof};
}

/** A tag is resolved first: the proof's bytes do not name their block. @param suite - as of askProof. @throws RpcError, ProofError */
export async function askMultiProof(
  caller: RpcCaller,
  entries: readonly ProofEntry[],
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
  ...suite: readonly string[]
): Promise<ServerMultiProof> {
  const block = await findProvable(caller, asked, signal);
  const keyCount = entries.reduce((sum, {storageKeys = []}) => sum + 1 + storageKeys.length, 0);
  const request = {
    method: "chain_getMultiProof",
    params: [
      entries.map(({address, storageKeys = []}) => ({address, storageKeys})),
      quantity(block),
      ...suite,
    ],
    takesBytes: true,
    maxAnswerBytes: keyCount * KEY_BYTES,
  };
  const result = await caller.call(request, signal);
  // Not every transport and server sends bytes. The others send their hex.
  const proof = result instanceof Uint8Array ? result : readBytes("result", result);
  return {block, proof};
}

/** @throws as `askNotBefore` */
function findNumber(
  caller: RpcCaller,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const {block} = asked;
  const find = async () => blockNumber(block) ?? (await getStateRoot(caller, block, signal)).number;
  return askNotBefore(asked, caller.timeoutMs, signal, find, number => number);
}

/** The number of a block that can be proved. @throws as `askNotBefore` */
export function findProvable(
  caller: RpcCaller,
  {block, atLeast}: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  return findNumber(caller, {block: blockNumber(block) ?? provableTag(block), atLeast}, signal);
}

/** Proofs know no block above the newest finalized one. @returns what to ask for unless `block` is a number */
export function provableTag(block: BlockName): BlockTag {
  return block === "earliest" ? block : "finalized";
}

/** Errors of other libraries have the code too. */
function hasCode(error: unknown, code: number | string): boolean {
  return isObject(error) && error.code === code;
}
