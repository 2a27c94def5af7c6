/** The client: every method of the service, with proofs verified against a trusted root. */
import {type LeavesVerifier, thisThread} from "../leaves/leavesVerifier.ts";
import type {ProofEntry} from "../proof/request.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {askNotBefore} from "./askedBlock.ts";
import {type BlockName, getStateRoot, type HeldBlockName, type RootedBlock} from "./block.ts";
import {getChanges} from "./changes.ts";
import {getCodes} from "./codes.ts";
import {type ConnectionOptions, createCaller} from "./connection.ts";
import {type Coverage, getCoverage} from "./coverage.ts";
import {type Estimate, type EstimateRequest, estimateGas} from "./estimate.ts";
import {EthMethods, type EthTrust, type ProvenEthMultiProof, type ProvenEthProof} from "./ethProof.ts";
import {type Finalization, getFinalizations} from "./finalization.ts";
import {type BlockContext, getHeader} from "./header.ts";
import {getLeaves} from "./leaves.ts";
import {getMultiProof, getProof, type ProofMethods, waitForProof} from "./proofMethods.ts";
import type {
  ProvenChanges,
  ProvenLeaves,
  ProvenMultiProof,
  ProvenProof,
  ServerChanges,
  ServerLeaves,
  ServerMultiProof,
  ServerProof,
} from "./provenAnswer.ts";
import {type NoTrust, type Trust, TrustedRoots} from "./trustedRoot.ts";

/** Every method takes one. When it is aborted, the call rejects with its reason at once. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** For a block that is named by a tag. */
export interface NotBefore {
  /**
   * The answer is of this block or a newer one: servers behind a balancer are not all at the same block, so without it the next answer may
   * be of an older block than the last. It is asked for again until `timeoutMs` is over. Default: any block.
   */
  readonly atLeast?: bigint | undefined;
}

export interface GetProofParameters extends Abortable, NotBefore {
  /** `0x` and 40 digits in any case. */
  readonly address: string;
  /** `0x` and 1 to 64 digits each. Default: none. */
  readonly storageKeys?: readonly string[] | undefined;
  /** Default: "finalized". "latest" is the same: only finalized blocks can be proved. */
  readonly block?: BlockName | undefined;
}

export interface WaitForProofParameters extends GetProofParameters {
  /** Default: "latest", the block that is the newest one now. */
  readonly block?: BlockName | undefined;
  /** In all, at most a day. Default: five minutes. */
  readonly timeoutMs?: number | undefined;
  /** From the first look to the next; doubled each time, up to 12 000. Default: 500. */
  readonly intervalMs?: number | undefined;
}

export interface GetMultiProofParameters extends Abortable, NotBefore {
  /** At least one. */
  readonly entries: readonly ProofEntry[];
  /** Default: "finalized". */
  readonly block?: BlockName | undefined;
}

export interface GetLeavesParameters extends Abortable, NotBefore {
  /** "accounts" for the tree of all accounts, or an address for that account's storage tree. */
  readonly tree: string;
  /** The leaf index of the first leaf. Default: 0. */
  readonly from?: number | undefined;
  /** Leaves, at most: 1 to 4 096. The answer may have fewer. Default: 4 096. */
  readonly count?: number | undefined;
  /** Default: "finalized". Name one number for all ranges of a tree: `block.number` of the first answer. */
  readonly block?: BlockName | undefined;
  /** What verifies the answer. Default: this thread. `pullState` has threads of its own. */
  readonly verifyWith?: LeavesVerifier | undefined;
}

/** `atLeast` is for `toBlock`. */
export interface GetChangesParameters extends Abortable, NotBefore {
  /** "accounts", "all" for accounts and their storage, or an address for that account's storage. */
  readonly tree: string;
  /** May be above or below `toBlock`. */
  readonly fromBlock: BlockName;
  /** Default: "finalized". Name one number for all answers: `toBlock.number` of the first one. */
  readonly toBlock?: BlockName | undefined;
  /** `end` of the answer before. Default: 0n. */
  readonly cursor?: bigint | undefined;
  /** Leaves, at most: 1 to 4 096. The answer may have fewer. Default: 4 096. */
  readonly count?: number | undefined;
}

export interface GetStateRootParameters extends Abortable, NotBefore {
  /** Default: "latest", which may not be finalized yet. */
  readonly block?: HeldBlockName | undefined;
}

export interface GetCodesParameters extends Abortable {
  /** `keccakCodeHash` of accounts. */
  readonly hashes: readonly string[];
}

export interface GetFinalizationsParameters extends Abortable {
  /** Default: 0. */
  readonly fromBlock?: bigint | undefined;
  /** 1 to 1 000. Default: 100. */
  readonly count?: number | undefined;
}

/**
 * Methods throw RpcError, and those with proofs throw ProofError for a proof that does not prove what was asked for against the
 * trusted root. Whatever the source of the trusted root throws comes through.
 */
export interface ProofClient<Verifies extends boolean = true> {
  /** One account and some of its slots. */
  getProof(parameters: GetProofParameters): Promise<Verifies extends true ? ProvenProof : ServerProof>;
  /** As getProof, as soon as the block is finalized and its root is known: looks again and again. */
  waitForProof(
    parameters: WaitForProofParameters,
  ): Promise<Verifies extends true ? ProvenProof : ServerProof>;
  /** One proof for many accounts and slots. */
  getMultiProof(
    parameters: GetMultiProofParameters,
  ): Promise<Verifies extends true ? ProvenMultiProof : ServerMultiProof>;
  /** All leaves of a range of one tree. Ask again from `end` on, until it is `nextFreeNode`. */
  getLeaves(parameters: GetLeavesParameters): Promise<Verifies extends true ? ProvenLeaves : ServerLeaves>;
  /** All leaves that differ between two blocks. Ask again with `end` as cursor, until it is undefined. */
  getChanges(
    parameters: GetChangesParameters,
  ): Promise<Verifies extends true ? ProvenChanges : ServerChanges>;
  /** Contract code by its keccak hash, which proves it. undefined where the server knows no code of that hash. */
  getCodes(parameters: GetCodesParameters): Promise<readonly (Uint8Array | undefined)[]>;
  /** The server's word, as are those below. */
  getHeader(parameters?: GetStateRootParameters): Promise<BlockContext>;
  getStateRoot(parameters?: GetStateRootParameters): Promise<RootedBlock>;
  getFinalizations(parameters?: GetFinalizationsParameters): Promise<readonly Finalization[]>;
  getCoverage(parameters?: Abortable): Promise<Coverage>;
  estimateGas(parameters: EstimateRequest): Promise<Estimate>;
}

/** With the suite keccak. */
export interface EthProofClient
  extends Omit<ProofClient, "getProof" | "waitForProof" | "getMultiProof" | "getLeaves" | "getChanges"> {
  /** One account and some of its slots, by eth_getProof of any node. A tag or a trusted block hash needs a proofd. */
  getProof(parameters: GetProofParameters): Promise<ProvenEthProof>;
  /** One proof for many accounts and slots, of a proofd. */
  getMultiProof(parameters: GetMultiProofParameters): Promise<ProvenEthMultiProof>;
}

const MAX_LEAVES = 4096;
const DEFAULT_WAIT_MS = 300_000;
const DEFAULT_INTERVAL_MS = 500;
const DEFAULT_FINALIZATIONS = 100;

function bindMethods(caller: RpcCaller, verifier: ProofMethods["verifier"]): ProofClient<boolean> {
  const methods = {caller, verifier};
  return {
    getProof: ({address, storageKeys = [], block = "finalized", atLeast, signal}) =>
      getProof(methods, {address, storageKeys}, {block, atLeast}, signal),
    waitForProof: ({
      address,
      storageKeys = [],
      block = "latest",
      atLeast,
      timeoutMs = DEFAULT_WAIT_MS,
      intervalMs = DEFAULT_INTERVAL_MS,
      signal,
    }) => waitForProof(methods, {address, storageKeys}, {block, atLeast}, {timeoutMs, intervalMs}, signal),
    getMultiProof: ({entries, block = "finalized", atLeast, signal}) =>
      getMultiProof(methods, entries, {block, atLeast}, signal),
    getLeaves: ({
      tree,
      from = 0,
      count = MAX_LEAVES,
      block = "finalized",
      atLeast,
      verifyWith = thisThread,
      signal,
    }) => getLeaves(methods, {tree, from, count}, {block, atLeast}, verifyWith, signal),
    getChanges: ({
      tree,
      fromBlock,
      toBlock = "finalized",
      atLeast,
      cursor = 0n,
      count = MAX_LEAVES,
      signal,
    }) => getChanges(methods, {tree, cursor, count}, fromBlock, {block: toBlock, atLeast}, signal),
    getCodes: ({hashes, signal}) => getCodes(caller, hashes, signal),
    getHeader: ({block = "latest", atLeast, signal} = {}) =>
      askNotBefore(
        {block, atLeast},
        caller.timeoutMs,
        signal,
        () => getHeader(caller, block, signal),
        answer => answer.block.number,
      ),
    getStateRoot: ({block = "latest", atLeast, signal} = {}) =>
      askNotBefore(
        {block, atLeast},
        caller.timeoutMs,
        signal,
        () => getStateRoot(caller, block, signal),
        ({number}) => number,
      ),
    getFinalizations: ({fromBlock = 0n, count = DEFAULT_FINALIZATIONS, signal} = {}) =>
      getFinalizations(caller, fromBlock, count, signal),
    getCoverage: ({signal} = {}) => getCoverage(caller, signal),
    estimateGas: request => estimateGas(caller, request),
  };
}

function bindEthMethods(caller: RpcCaller, methods: EthMethods): EthProofClient {
  const {getCodes, getHeader, getStateRoot, getFinalizations, getCoverage, estimateGas} = bindMethods(
    caller,
    undefined,
  );
  return {
    ...{getCodes, getHeader, getStateRoot, getFinalizations, getCoverage, estimateGas},
    getProof: ({address, storageKeys = [], block = "finalized", atLeast, signal}) =>
      methods.getProof({address, storageKeys}, {block, atLeast}, signal),
    getMultiProof: ({entries, block = "finalized", atLeast, signal}) =>
      methods.getMultiProof(entries, {block, atLeast}, signal),
  };
}

/**
 * Makes a client. It holds no resource: connections are those of `fetch`, or of the library whose `request` it calls.
 *
 *     const client = createProofClient({
 *       url: "http://127.0.0.1:8545",
 *       suite: sha256Suite,
 *       trustedRoot: block => myRoots.get(block),
 *     });
 *     const {block, account, slots} = await client.getProof({address, storageKeys: ["0x0"]});
 *
 * @throws TypeError for an option that is none
 */
export function createProofClient(options: ConnectionOptions & Trust): ProofClient;
export function createProofClient(options: ConnectionOptions & NoTrust): ProofClient<false>;
export function createProofClient(options: ConnectionOptions & EthTrust): EthProofClient;
export function createProofClient(
  options: ConnectionOptions & (Trust | NoTrust | EthTrust),
): ProofClient<boolean> | EthProofClient {
  const caller = createCaller(options);
  if (options.verify === false) return bindMethods(caller, undefined);
  if (isEthTrust(options)) return bindEthMethods(caller, new EthMethods(caller, options));
  return bindMethods(caller, new TrustedRoots(options));
}

function isEthTrust(options: Trust | EthTrust): options is EthTrust {
  // Without a suite, which types cannot tell callers in JavaScript, TrustedRoots says what is missing.
  return options.suite?.name === "keccak";
}
