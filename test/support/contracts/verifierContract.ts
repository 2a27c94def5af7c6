/** A verifier of contracts/ on anvil, and what it says about proof bytes. */
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {type Artefact, readArtefact} from "../../../contracts/artefacts.ts";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import type {Anvil} from "../processes/anvil.ts";
import {sendTransaction} from "./transactions.ts";

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
  readonly address: string;
  private readonly anvil: Anvil;
  private readonly artefact: Artefact;

  private constructor(anvil: Anvil, artefact: Artefact, address: string) {
    this.anvil = anvil;
    this.artefact = artefact;
    this.address = address;
  }

  /** @param name - of a contract in contracts/src */
  static async deploy(anvil: Anvil, name: string): Promise<VerifierContract> {
    const artefact = readArtefact(name);
    const {contractAddress} = await sendTransaction(anvil, {data: `0x${artefact.bytecode}`});
    if (contractAddress === null) throw new Error(`${name} was not created`);
    return new VerifierContract(anvil, artefact, contractAddress);
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
          params: [{to: this.address, data: this.encode(call)}, "latest"],
        })),
      ),
    });
    const answers = (await response.json()) as readonly (RpcAnswer & {readonly id: number})[];
    const verdicts: Verdict[] = [];
    for (const answer of answers) verdicts[answer.id] = this.decode(calls[answer.id] as VerifierCall, answer);
    return verdicts;
  }

  /** The call as a transaction's data, 0x text. */
  encode({root, address, slots, proof}: VerifierCall): `0x${string}` {
    const [stateRoot, bytes] = [encodeHex(root), encodeHex(proof)];
    if (slots === undefined)
      return AbiFunction.encodeData(this.method("verifyAccount"), [stateRoot, address, bytes]);
    const words = slots.map(slot => encodeHex(word(BigInt(slot))));
    return AbiFunction.encodeData(this.method("verifySlots"), [stateRoot, address, words, bytes]);
  }

  private decode({slots}: VerifierCall, {result, error}: RpcAnswer): Verdict {
    if (error !== undefined) return {refused: this.nameOf(error)};
    const data = result as `0x${string}`;
    if (slots !== undefined) {
      const values = AbiFunction.decodeResult(this.method("verifySlots"), data) as readonly string[];
      return {values: values.map(BigInt)};
    }
    const [exists, account] = AbiFunction.decodeResult(this.method("verifyAccount"), data) as readonly [
      boolean,
      ContractAccount,
    ];
    return {account: exists ? account : undefined};
  }

  /** @throws Error if the call failed otherwise than by an error of the contract */
  private nameOf({message, data}: NonNullable<RpcAnswer["error"]>): string {
    if (typeof data !== "string" || data === "0x") throw new Error(`the call failed: ${message} ${data}`);
    return AbiError.fromAbi(this.artefact.abi as never, data as never).name;
  }

  private method(name: string): AbiFunction.AbiFunction {
    return AbiFunction.fromAbi(this.artefact.abi as never, name as never);
  }
}
