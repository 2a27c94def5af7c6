/** A verifier of contracts/ on anvil, and what it says about proof bytes. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
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

/** What is asked of a verifier: about the account if `slots` is undefined, else about its slots. */
export interface VerifierCall {
  readonly root: Uint8Array;
  /** 0x text. */
  readonly address: string;
  /** As quantities or words, 0x text. */
  readonly slots?: readonly string[];
  readonly proof: Uint8Array;
}

/** `refused` is the name of the error that the contract reverts with. */
export type Verdict =
  | {readonly account: ContractAccount | undefined}
  | {readonly values: readonly bigint[]}
  | {readonly refused: string};

export class VerifierContract {
  readonly contract: DeployedContract;
  private readonly anvil: Anvil;

  private constructor(anvil: Anvil, contract: DeployedContract) {
    this.anvil = anvil;
    this.contract = contract;
  }

  /** @param name - of a contract in contracts/src */
  static async deploy(anvil: Anvil, name: string): Promise<VerifierContract> {
    return new VerifierContract(anvil, await DeployedContract.create(anvil, name));
  }

  async judge(call: VerifierCall): Promise<Verdict> {
    return (await this.judgeAll([call]))[0] as Verdict;
  }

  /** Asks by eth_call, all calls in one batch. */
  async judgeAll(calls: readonly VerifierCall[]): Promise<Verdict[]> {
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

  private encode({root, address, slots, proof}: VerifierCall): string {
    const [stateRoot, bytes] = [encodeHex(root), encodeHex(proof)];
    if (slots === undefined) return this.contract.encode("verifyAccount", stateRoot, address, bytes);
    const words = slots.map(slot => encodeHex(word(BigInt(slot))));
    return this.contract.encode("verifySlots", stateRoot, address, words, bytes);
  }

  private decode({slots}: VerifierCall, {result, error}: RpcAnswer): Verdict {
    if (error !== undefined) return {refused: this.contract.nameOf(error)};
    if (slots !== undefined) {
      const values = this.contract.decode("verifySlots", result) as readonly string[];
      return {values: values.map(BigInt)};
    }
    const [exists, account] = this.contract.decode("verifyAccount", result) as readonly [
      boolean,
      ContractAccount,
    ];
    return {account: exists ? account : undefined};
  }
}
