/**
 * Asks a server for proofs of accounts and storage slots, and verifies them against a root that the caller trusts
 * (docs/proofs.md). Files of which everything is public are exported whole.
 *
 * @module
 */
export {compareBytes, concatBytes} from "./bytes/byteString.ts";
export {decodeHex, encodeHex, type Hex} from "./bytes/hex.ts";
export * from "./compact/compactProof.ts";
export {type OpenedEntry, type OpenedKey, type OpenedLeaf, openAnswer} from "./compact/openedPaths.ts";
export {
  createSha256Suite,
  type HashSuite,
  newTreeRoot,
  poseidon2Suite,
  type Sha256,
  sha256Suite,
} from "./hash/hashSuites.ts";
export type {AnsweredBlock} from "./leaves/blockBytes.ts";
export {
  type ChangeRange,
  type ChangesRequest,
  type ComparedRoots,
  verifyChanges,
} from "./leaves/changeRange.ts";
export type {StorageChanges} from "./leaves/changesReader.ts";
export type {LeafChange} from "./leaves/foldChanges.ts";
export type {LeavesVerifier, VerifiedLeaves} from "./leaves/leafRange.ts";
export {type LeafRange, type LeavesRequest, verifyLeaves} from "./leaves/leafRange.ts";
export type {AccountLeaf, EndLeaf, KeyedLeaf, RemovedLeaf, SlotLeaf, TreeLeaf} from "./leaves/treeLeaf.ts";
export type {Abortable, BlockName, BlockTag, HeldBlockName, NotBefore} from "./methods/askedBlock.ts";
export type {GetStateRootParameters, Layer1Record, RootedBlock} from "./methods/block.ts";
export type {GetCallWitnessParameters} from "./methods/callWitness.ts";
export type {GetChangesParameters} from "./methods/changes.ts";
export type {GetCodesParameters} from "./methods/codes.ts";
export type {ConnectionOptions, RequestFunction, RequestOptions, UrlOptions} from "./methods/connection.ts";
export type {Coverage} from "./methods/coverage.ts";
export type {
  AccessListEntry,
  AccountOverride,
  Authorization,
  Estimate,
  EstimateCall,
  EstimateRequest,
} from "./methods/estimate.ts";
export type {EthTrust, HashTrust, ProvenEthMultiProof, ProvenEthProof} from "./methods/ethProof.ts";
export type {Finalization, GetFinalizationsParameters} from "./methods/finalization.ts";
export type {BlockContext, HeaderFields} from "./methods/header.ts";
export * from "./methods/layer1Root.ts";
export type {GetLeavesParameters} from "./methods/leaves.ts";
export * from "./methods/proofClient.ts";
export type {
  GetMultiProofParameters,
  GetProofParameters,
  WaitForProofParameters,
} from "./methods/proofMethods.ts";
export type * from "./methods/provenAnswer.ts";
export {
  keccakSuite,
  type NoTrust,
  type Root,
  type RootOfBlock,
  type Trust,
  type TrustedRoot,
} from "./methods/trustedRoot.ts";
export {type Account, decodeAccount, encodeAccount} from "./proof/account.ts";
export * from "./proof/proofError.ts";
export * from "./proof/proofVerifier.ts";
export type {ProofEntry, ProofRequest} from "./proof/request.ts";
export type {ProofRequests} from "./pull/piece.ts";
export * from "./pull/pullChanges.ts";
export * from "./pull/pullProofs.ts";
export {type PullStateParameters, pullState} from "./pull/pullState.ts";
export type {PulledRange} from "./pull/treeRanges.ts";
export {RpcError, type RpcErrorName} from "./rpc/rpcError.ts";
export {createRedaction, redactUrl} from "./rpc/secrets.ts";
export {type ProvenHeader, verifyHeader} from "./trie/blockHeader.ts";
export {verifyEthMultiProof} from "./trie/ethMultiProof.ts";
export {type EthAccount, type ProvenEth, verifyEthProof} from "./trie/ethProof.ts";
