/** The methods that answer with proofs. Results are verified, unless there is no verifier. */
import {encodeHex, quantity} from "../bytes/hex.ts";
import {isObject} from "../bytes/values.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import {verifyProof} from "../proof/proofVerifier.ts";
import type {ProofEntry} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import {askAgain, Pauses} from "../rpc/pauses.ts";
import {readObject} from "./answerFields.ts";
import {
  type Abortable,
  askNotBefore,
  type BlockName,
  type BlockTag,
  blockNumber,
  callForBytes,
  encodeBlock,
  type NotBefore,
  requireAsked,
} from "./askedBlock.ts";
import {getStateRoot, readRootedBlock} from "./block.ts";
import {MAX_MS, type RpcCaller, requireWhole} from "./connection.ts";
import {getCoverage} from "./coverage.ts";
import type {
  ProofJson,
  ProvenMultiProof,
  ProvenProof,
  ServerMultiProof,
  ServerProof,
} from "./provenAnswer.ts";
import type {TrustedRoots} from "./trustedRoot.ts";

export interface GetProofParameters extends ProofEntry, Abortable, NotBefore {
  /** Default: "finalized". "latest" is the same: only finalized blocks can be proved. */
  readonly block?: BlockName | undefined;
}

export interface WaitForProofParameters extends GetProofParameters {
  /** Default: "latest", the block that is the newest one now. */
  readonly block?: BlockName | undefined;
  /** In all, at most a day. Default: 300 000. */
  readonly timeoutMs?: number | undefined;
  /** The first polling interval; doubled each time, up to 12 000. Default: 500. */
  readonly intervalMs?: number | undefined;
}

export interface GetMultiProofParameters extends Abortable, NotBefore {
  /** At least one. */
  readonly entries: readonly ProofEntry[];
  /** Default: "finalized". */
  readonly block?: BlockName | undefined;
}

/** More than twice what a key takes in any answer: the two leaves around it, with 42 nodes each as hex text. */
export const KEY_BYTES = 32_768;
/** More than the longest header takes as hex text. */
const HEADER_BYTES = 1 << 18;
/** Error of JSON-RPC: the block is not finalized yet. */
const NOT_FINALIZED = -32002;
/** A wait survives a server that is busy or away for so long. */
const RETRY_MS = 30_000;
const DEFAULT_WAIT_MS = 300_000;
const DEFAULT_INTERVAL_MS = 500;

export interface ProofMethods {
  readonly caller: RpcCaller;
  /** undefined: nothing is verified. */
  readonly verifier: TrustedRoots | undefined;
}

/** Asks for the proof together with its block, so that a tag is one block for both. @throws RpcError, ProofError */
export async function getProof(
  {caller, verifier}: ProofMethods,
  parameters: GetProofParameters,
): Promise<ProvenProof | ServerProof> {
  return prove(verifier, parameters, await askProof(caller, parameters));
}

interface AskedProof extends ServerProof {
  /** The state root that the server names. */
  readonly claimed: string;
  /** The block's, in hex: only with the suite keccak. */
  readonly header: unknown;
}

/** @param suite - of the proof. Default: that of the server's trees. @throws RpcError; ProofError for another block */
export async function askProof(
  caller: RpcCaller,
  {address, storageKeys = [], block = "finalized", ...asked}: GetProofParameters,
  ...suite: readonly string[]
): Promise<AskedProof> {
  const request = {
    method: "chain_getProofAt",
    params: [address, storageKeys, encodeBlock(block), ...suite],
    maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES + suite.length * HEADER_BYTES,
  };
  const ask = async (): Promise<AskedProof> => {
    const fields = readObject("result", await caller.call(request, asked.signal));
    const {number, stateRoot} = readRootedBlock("block", fields.block);
    const {proof, headerRlp: header} = fields;
    return {block: number, claimed: stateRoot, proof: proof as ProofJson, header};
  };
  const answer = await askNotBefore(caller, {block, ...asked}, ask, ({block}) => block);
  requireAsked("block", block, answer.block);
  return answer;
}

async function prove(
  roots: TrustedRoots | undefined,
  {address, storageKeys = [], signal}: GetProofParameters,
  {block, claimed, proof}: AskedProof,
): Promise<ProvenProof | ServerProof> {
  if (roots === undefined) return {block, proof};
  const root = await roots.of(block, signal);
  const stateRoot = encodeHex(root);
  const rule = `expected ${stateRoot}, the trusted root of block ${block}, got ${claimed}`;
  check(claimed === stateRoot, "block.stateRoot", rule);
  return {block, stateRoot, ...verifyProof(roots.suite, root, address, storageKeys, proof), proof};
}

/**
 * Polls until the server says that the block is finalized, requests its proof, and polls until there is a trusted root
 * of it: the server may know a finalization before layer 1 shows its root.
 *
 * @throws RpcError -32002 if the block is not finalized in time, ROOT_UNKNOWN if its root is not; ProofError
 */
export async function waitForProof(
  {caller, verifier}: ProofMethods,
  parameters: WaitForProofParameters,
): Promise<ProvenProof | ServerProof> {
  const {block: named = "latest", atLeast, signal, ...request} = parameters;
  const {timeoutMs = DEFAULT_WAIT_MS, intervalMs = DEFAULT_INTERVAL_MS} = request;
  requireWhole("timeoutMs", timeoutMs, 0, MAX_MS);
  requireWhole("intervalMs", intervalMs, 1, MAX_MS);
  const pauses = new Pauses(timeoutMs, intervalMs, signal);
  const block = await findNumber(caller, {block: named, atLeast, signal});
  const answer = await awaitProof(caller, {...request, signal}, block, pauses);
  for (;;)
    try {
      return await prove(verifier, parameters, answer);
    } catch (error) {
      if (!hasCode(error, "ROOT_UNKNOWN") || !(await pauses.wait())) throw error;
    }
}

/** When the time is over, the proof is requested all the same: the server's error says what is missing. */
async function awaitProof(
  caller: RpcCaller,
  request: ProofEntry & Abortable,
  block: bigint,
  pauses: Pauses,
): Promise<AskedProof> {
  const {signal} = request;
  for (let isOver = false; ; isOver = !(await pauses.wait())) {
    const {finalized = -1n} = await askAgain(RETRY_MS, signal, () => getCoverage(caller, {signal}));
    if (finalized < block && !isOver) continue;
    try {
      return await askProof(caller, {...request, block});
    } catch (error) {
      // Behind a load balancer, this answer may come from a server that is some blocks behind.
      if (isOver || !hasCode(error, NOT_FINALIZED)) throw error;
    }
  }
}

export async function getMultiProof(
  {caller, verifier}: ProofMethods,
  parameters: GetMultiProofParameters,
): Promise<ProvenMultiProof | ServerMultiProof> {
  const {entries, signal} = parameters;
  const {block, proof} = await askMultiProof(caller, parameters);
  if (verifier === undefined) return {block, proof};
  const root = await verifier.of(block, signal);
  const proven = verifyMultiProof(verifier.suite, root, entries, proof);
  return {block, stateRoot: encodeHex(root), entries: proven, proof};
}

/** A tag is resolved first: proof bytes name no block. @param suite - as of askProof. @throws RpcError, ProofError */
export async function askMultiProof(
  caller: RpcCaller,
  {entries, block: named = "finalized", ...asked}: GetMultiProofParameters,
  ...suite: readonly string[]
): Promise<ServerMultiProof> {
  const block = await findProvable(caller, {block: named, ...asked});
  const keyCount = entries.reduce((sum, {storageKeys = []}) => sum + 1 + storageKeys.length, 0);
  const request = {
    method: "chain_getMultiProof",
    params: [
      entries.map(({address, storageKeys = []}) => ({address, storageKeys})),
      quantity(block),
      ...suite,
    ],
    maxAnswerBytes: keyCount * KEY_BYTES,
  };
  return {block, proof: await callForBytes(caller, request, asked.signal)};
}

interface NamedBlock extends Abortable, NotBefore {
  readonly block: BlockName;
}

function findNumber(caller: RpcCaller, asked: NamedBlock): Promise<bigint> {
  const {block, signal} = asked;
  const find = async () => blockNumber(block) ?? (await getStateRoot(caller, {block, signal})).number;
  return askNotBefore(caller, asked, find, number => number);
}

/** The number of a block that can be proved. @throws as `askNotBefore` */
export function findProvable(caller: RpcCaller, {block, ...asked}: NamedBlock): Promise<bigint> {
  return findNumber(caller, {block: blockNumber(block) ?? provableTag(block), ...asked});
}

/** No block above the newest finalized one can be proven. @returns the tag to request for a tag */
export function provableTag(block: BlockName): BlockTag {
  return block === "earliest" ? block : "finalized";
}

/** Errors of other libraries have the code too. */
function hasCode(error: unknown, code: number | string): boolean {
  return isObject(error) && error.code === code;
}
