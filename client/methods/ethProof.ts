/** eth_getProof, verified: of a proofd or of any other node. */
import {encodeHex, quantity} from "../bytes/hex.ts";
import type {ProofRequest} from "../proof/request.ts";
import type {RpcCaller} from "../rpc/rpcCaller.ts";
import {type ProvenEth, verifyEthProof} from "../trie/ethProof.ts";
import type {AskedBlock} from "./askedBlock.ts";
import type {BlockName} from "./block.ts";
import {findProvable, KEY_BYTES} from "./proofMethods.ts";
import type {keccakSuite, TrustedRoots} from "./trustedRoot.ts";

/** What the answer to getProof proves with the suite keccak. */
export interface ProvenEthProof extends ProvenEth {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: string;
  /** The answer, as the server sent it. */
  readonly proof: unknown;
}

/** A tag is resolved first: an answer does not name its block. @throws RpcError, ProofError; what the trusted root's source throws */
export async function getEthProof(
  caller: RpcCaller,
  roots: TrustedRoots<typeof keccakSuite>,
  {address, storageKeys}: ProofRequest,
  asked: AskedBlock<BlockName>,
  signal: AbortSignal | undefined,
): Promise<ProvenEthProof> {
  const block = await findProvable(caller, asked, signal);
  const request = {
    method: "eth_getProof",
    params: [address, storageKeys, quantity(block)],
    maxAnswerBytes: (1 + storageKeys.length) * KEY_BYTES,
  };
  const proof = await caller.call(request, signal);
  const root = await roots.of(block, signal);
  return {block, stateRoot: encodeHex(root), ...verifyEthProof(root, address, storageKeys, proof), proof};
}
