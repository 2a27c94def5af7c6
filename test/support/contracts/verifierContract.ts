/** A verifier of contracts/ on anvil, and what it says about proof bytes. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import type {Anvil} from "../processes/anvil.ts";
import {DeployedContract} from "./deployedContract.ts";

/** Fields as in IProofVerifier.sol. */
export interface ContractAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storageRoot: string;
  readonly codeHash: string;
  readonly keccakCodeHash: string;
  readonly codeSize: bigint;
}

/** Anvil takes 2 MiB in one body. */
const MAX_BATCH = 60;

interface ProofCall {
  readonly root: Uint8Array;
  readonly proof: Uint8Array;
}

/** About an account if `slots` is undefined, else about its slots. */
export interface AccountCall extends ProofCall {
  /** 0x text. */
  readonly address: string;
  /** As quantities or words, 0x text. */
  readonly slots?: readonly string[];
}

export interface AccountsCall extends ProofCall {
  readonly request: readonly ProofRequest[];
}

/** `root` is a storageRoot. */
interface StorageCall extends ProofCall {
  readonly storageKeys: readonly string[];
}

export type VerifierCall = AccountCall | AccountsCall | StorageCall;

/** `refused` is the name of the error that the contract reverts with. */
export type Verdict =
  | {readonly account: ContractAccount | undefined}
  | {readonly values: readonly bigint[]}
  | {readonly proven: readonly {account: ContractAccount | undefined; slots: readonly bigint[]}[]}
  | {readonly refused: string};

interface ContractAnswer {
  readonly exists: boolean;
  readonly value: ContractAccount;
  readonly slots: readonly string[];
}

/** Asks by the function that fits: there is one for an account, one for its slots, and one for several accounts. */
export function callFor(
  root: Uint8Array,
  request: readonly ProofRequest[],
  proof: Uint8Array,
): AccountCall | AccountsCall {
  if (request.length > 1) return {root, request, proof};
  const [{address, storageKeys}] = request as readonly [ProofRequest];
  return {root, address, ...(storageKeys.length === 0 ? {} : {slots: storageKeys}), proof};
}

export class VerifierContract {
  readonly contract: DeployedContract;
  private readonly anvil: Anvil;

  private constructor(anvil: Anvil, contract: DeployedContract) {
    this.anvil = anvil;
    this.contract = contract;
  }

  static async deploy(anvil: Anvil, name: string): Promise<VerifierContract> {
    return new VerifierContract(anvil, await DeployedContract.create(anvil, name));
  }

  async judge(call: VerifierCall): Promise<Verdict> {
    return (await this.judgeAll([call]))[0] as Verdict;
  }

  /** Asks by eth_call, many calls in one batch. */
  async judgeAll(calls: readonly VerifierCall[]): Promise<Verdict[]> {
    const verdicts: Verdict[] = [];
    for (let first = 0; first < calls.length; first += MAX_BATCH)
      verdicts.push(...(await this.judgeBatch(calls.slice(first, first + MAX_BATCH))));
    return verdicts;
  }

  private async judgeBatch(calls: readonly VerifierCall[]): Promise<Verdict[]> {
    const response = await fetch(this.anvil.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify(
        calls.map((call, id) => ({
          jsonrpc: "2.0",
          id,
          method: "eth_call",
          params: [{to: this.contract.address, data: this.encode(call)}, "latest"],
        })),
      ),
    });
    const answers = (await response.json()) as readonly (RpcAnswer & {readonly id: number})[];
    const verdicts: Verdict[] = [];
    for (const answer of answers) verdicts[answer.id] = this.decode(calls[answer.id] as VerifierCall, answer);
    return verdicts;
  }

  private encode(call: VerifierCall): string {
    const [root, bytes] = [encodeHex(call.root), encodeHex(call.proof)];
    if ("request" in call) {
      const requests = call.request.map(({address, storageKeys}) => ({
        account: address,
        slots: encodeSlots(storageKeys),
      }));
      return this.contract.encode("verifyAccounts", root, requests, bytes);
    }
    if ("storageKeys" in call)
      return this.contract.encode("verifyStorage", root, encodeSlots(call.storageKeys), bytes);
    if (call.slots === undefined) return this.contract.encode("verifyAccount", root, call.address, bytes);
    return this.contract.encode("verifySlots", root, call.address, encodeSlots(call.slots), bytes);
  }

  private decode(call: VerifierCall, {result, error}: RpcAnswer): Verdict {
    if (error !== undefined) return {refused: this.contract.nameOf(error)};
    if ("request" in call) {
      const proven = this.contract.decode("verifyAccounts", result) as readonly ContractAnswer[];
      return {
        proven: proven.map(({exists, value, slots}) => ({
          account: exists ? value : undefined,
          slots: slots.map(BigInt),
        })),
      };
    }
    if ("storageKeys" in call || call.slots !== undefined) {
      const name = "storageKeys" in call ? "verifyStorage" : "verifySlots";
      return {values: (this.contract.decode(name, result) as readonly string[]).map(BigInt)};
    }
    const [exists, account] = this.contract.decode("verifyAccount", result) as readonly [
      boolean,
      ContractAccount,
    ];
    return {account: exists ? account : undefined};
  }
}

function encodeSlots(slots: readonly string[]): readonly string[] {
  return slots.map(slot => encodeHex(word(BigInt(slot))));
}
