/** A contract of contracts/src on anvil. */
import * as AbiConstructor from "ox/AbiConstructor";
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";
import type {Artefact} from "../../../contracts/artefacts.ts";
import type {RpcError} from "../http/rpcAnswer.ts";
import type {Anvil} from "../processes/anvil.ts";
import {readArtefact} from "./readArtefact.ts";
import {type Receipt, sendTransaction} from "./transactions.ts";

/** Numbers, 0x text, lists and structs of them: as ox takes them. */
type Argument = bigint | boolean | string | readonly Argument[] | {readonly [field: string]: Argument};

/** Of 0x text. */
const SELECTOR_LENGTH = 10;

export class DeployedContract {
  readonly address: string;
  private readonly anvil: Anvil;
  private readonly artefact: Artefact;
  /** What was found in the ABI. Each search hashes every signature. */
  private readonly methods = new Map<string, AbiFunction.AbiFunction>();
  /** Names by selector. */
  private readonly errors = new Map<string, string>();

  constructor(anvil: Anvil, artefact: Artefact, address: string) {
    this.anvil = anvil;
    this.artefact = artefact;
    this.address = address;
  }

  /** @param contract - or the name of one in src/ */
  static async create(
    anvil: Anvil,
    contract: string | Artefact,
    ...values: readonly Argument[]
  ): Promise<DeployedContract> {
    const artefact = typeof contract === "string" ? readArtefact(contract) : contract;
    const {bytecode} = artefact;
    const data =
      values.length === 0
        ? bytecode
        : AbiConstructor.encode(AbiConstructor.fromAbi(artefact.abi as never), {
            bytecode,
            args: values,
          } as never);
    const {contractAddress} = await sendTransaction(anvil, {data});
    if (contractAddress === null) throw new Error(`${contract} was not created`);
    return new DeployedContract(anvil, artefact, contractAddress);
  }

  encode(name: string, ...values: readonly Argument[]): string {
    return AbiFunction.encodeData(this.method(name), values as never);
  }

  /** What a call returned: one value, or a list of several. */
  decode(name: string, result: unknown): unknown {
    return AbiFunction.decodeResult(this.method(name), result as never);
  }

  /** @throws Error if the call fails */
  async read(name: string, ...values: readonly Argument[]): Promise<unknown> {
    const call = {to: this.address, data: this.encode(name, ...values)};
    return this.decode(name, await this.anvil.request("eth_call", call, "latest"));
  }

  /** Sends a transaction of anvil's first account. @throws Error if it fails */
  send(name: string, ...values: readonly Argument[]): Promise<Receipt> {
    return sendTransaction(this.anvil, {to: this.address, data: this.encode(name, ...values)});
  }

  /**
   * Name of the error that a call reverts with.
   *
   * @param from - default: anvil's first account
   * @param errorsOf - the contract whose error it is; default: this one
   * @throws Error if the call does not revert
   */
  async refusal(
    name: string,
    values: readonly Argument[],
    {from, errorsOf = this}: {from?: string; errorsOf?: DeployedContract} = {},
  ): Promise<string> {
    const sender = from ?? (await this.anvil.request<readonly string[]>("eth_accounts"))[0];
    const call = {from: sender, to: this.address, data: this.encode(name, ...values)};
    const {error} = await this.anvil.ask("eth_call", [call, "latest"]);
    if (error === undefined) throw new Error(`${name} did not revert`);
    return errorsOf.nameOf(error);
  }

  /** @throws Error if the call failed otherwise than by an error of the contract */
  nameOf({message, data}: RpcError): string {
    if (typeof data !== "string" || data === "0x") throw new Error(`the call failed: ${message} ${data}`);
    const selector = data.slice(0, SELECTOR_LENGTH);
    const name =
      this.errors.get(selector) ?? AbiError.fromAbi(this.artefact.abi as never, data as never).name;
    this.errors.set(selector, name);
    return name;
  }

  private method(name: string): AbiFunction.AbiFunction {
    const method = this.methods.get(name) ?? AbiFunction.fromAbi(this.artefact.abi as never, name as never);
    this.methods.set(name, method);
    return method;
  }
}
