/** Verified proofs of Ethereum's state trie: eth_getProof of any node, and methods that only proofd has. */
import {encodeHex, type Hex, quantity} from "../bytes/hex.ts";
import {check, readBytes} from "../proof/strictJson.ts";
import {verifyHeader} from "../trie/blockHeader.ts";
import {verifyEthMultiProof} from "../trie/ethMultiProof.ts";
import {type ProvenEth, verifyEthProof} from "../trie/ethProof.ts";
import type {RpcCaller} from "./connection.ts";
import {
  askMultiProof,
  askProof,
  findProvable,
  type GetMultiProofParameters,
  type GetProofParameters,
  KEY_BYTES,
} from "./proofMethods.ts";
import {type keccakSuite, type Trust, type TrustedRoot, TrustedRoots} from "./trustedRoot.ts";

/** What the answer to getProof proves with the suite keccak. */
export interface ProvenEthProof extends ProvenEth {
  readonly block: bigint;
  /** The root that it was verified against: the trusted one, or that of the header with the trusted hash. */
  readonly stateRoot: Hex;
  /** The answer of eth_getProof, as the server sent it. */
  readonly proof: unknown;
}

/** What the answer to getMultiProof proves with the suite keccak. */
export interface ProvenEthMultiProof extends Pick<ProvenEthProof, "block" | "stateRoot"> {
  /** One per entry of the request, in its order. */
  readonly entries: readonly ProvenEth[];
  /** Proof bytes (docs/proofs.md, section 17). */
  readonly proof: Uint8Array;
}

/** Trusts the hashes of blocks instead of their roots. Only proofd sends the headers that lead to the roots. */
export interface HashTrust extends Omit<Trust<typeof keccakSuite>, "trustedRoot"> {
  /** One hash for all answers, or how to find that of a block. */
  readonly trustedBlockHash: TrustedRoot;
  readonly trustedRoot?: undefined;
}

/** The trust of a client with the suite keccak. */
export type EthTrust = (Trust<typeof keccakSuite> & {readonly trustedBlockHash?: undefined}) | HashTrust;

const NO_REQUEST = {address: `0x${"00".repeat(20)}`, storageKeys: []};

/** The methods of a client with the suite keccak that verify proofs. They throw as those of ProofClient. */
export function createEthMethods(caller: RpcCaller, trust: EthTrust) {
  const {suite, rootTimeoutMs, trustedRoot, trustedBlockHash} = trust;
  const areHashes = trustedBlockHash !== undefined;
  if (areHashes && trustedRoot !== undefined)
    throw new TypeError("expected one of the options trustedRoot and trustedBlockHash, got both");
  const trusted = (trustedRoot ?? trustedBlockHash) as TrustedRoot;
  const roots = new TrustedRoots({suite, rootTimeoutMs, trustedRoot: trusted});
  const askHeader = (parameters: GetProofParameters) => askProof(caller, parameters, suite.name);
  /** @param header - of the answer, in hex: it leads from a trusted hash to the root */
  const rootOf = async (block: bigint, header: unknown, signal: AbortSignal | undefined) => {
    const root = await roots.of(block, signal);
    if (!areHashes) return root;
    const {number, stateRoot} = verifyHeader(root, readBytes("headerRlp", header));
    check(
      number === block,
      "headerRlp",
      `expected the header of block ${block}, got that of block ${number}`,
    );
    return stateRoot;
  };
  return {
    getProof: async (parameters: GetProofParameters): Promise<ProvenEthProof> => {
      const asked = areHashes ? await askHeader(parameters) : await askEthProof(caller, parameters);
      const {block, proof, header} = asked;
      const {address, storageKeys = [], signal} = parameters;
      const root = await rootOf(block, header, signal);
      return {block, stateRoot: encodeHex(root), ...verifyEthProof(root, address, storageKeys, proof), proof};
    },
    getMultiProof: async (parameters: GetMultiProofParameters): Promise<ProvenEthMultiProof> => {
      const {entries, signal} = parameters;
      const {block, proof} = await askMultiProof(caller, parameters, suite.name);
      const header = areHashes ? (await askHeader({...NO_REQUEST, block, signal})).header : undefined;
      const root = await rootOf(block, header, signal);
      return {block, stateRoot: encodeHex(root), entries: verifyEthMultiProof(root, entries, proof), proof};
    },
  };
}

/** eth_getProof of any node. A tag is resolved first. */
async function askEthProof(
  caller: RpcCaller,
  {address, storageKeys = [], block: named = "finalized", ...asked}: GetProofParameters,
) {
  const block = await findProvable(caller, {block: named, ...asked});
  const request = {
    method: "eth_getProof",
    params: [address, storageKeys, quantity(block)],
    maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES,
  };
  return {block, proof: await caller.call(request, asked.signal), header: undefined};
}
