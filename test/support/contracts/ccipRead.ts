/** CCIP-read (EIP-3668) as a client does it, in steps that a test can change. */
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";
import * as AbiParameters from "ox/AbiParameters";
import type {RpcAnswer} from "../http/rpcAnswer.ts";
import type {Anvil} from "../processes/anvil.ts";
import type {DeployedContract} from "./deployedContract.ts";

const OFFCHAIN_LOOKUP = AbiError.from(
  "error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)",
);
const PROVE_SLOTS = AbiFunction.from(
  "function proveSlots(address account, bytes32[] slots, uint256 dynamic, bool isTrie)",
);
const TWO_BYTES = AbiParameters.from("bytes response, bytes extraData");
/** What proofd answers, and what the contract gives to its own callback. */
const RESPONSE = AbiParameters.from("uint256 block, uint256[] words, bytes header, bytes proof");
const EXTRA = AbiParameters.from("address account, bytes32[] slots, uint256 dynamic, bytes context");

export type Response = readonly [block: bigint, words: readonly bigint[], header: string, proof: string];
export type Extra = readonly [account: string, slots: readonly string[], dynamic: bigint, context: string];

/** Anvil takes 2 MiB in one body. */
const MAX_BATCH = 50;

/** What a contract reverts with. */
export interface Lookup {
  readonly urls: readonly string[];
  readonly callData: string;
  readonly callback: string;
  readonly extraData: string;
}

type Values = Parameters<DeployedContract["read"]> extends [string, ...infer Rest] ? Rest : never;

export class CcipRead {
  private readonly anvil: Anvil;
  readonly contract: DeployedContract;

  constructor(anvil: Anvil, contract: DeployedContract) {
    this.anvil = anvil;
    this.contract = contract;
  }

  /** All steps. @throws Error if one fails */
  async read(name: string, ...values: Values): Promise<unknown> {
    const lookup = await this.ask(name, ...values);
    const {status, text} = await this.fetch(lookup);
    if (status !== 200) throw new Error(`status ${status}: ${text}`);
    const {result, error} = await this.callBack(lookup, JSON.parse(text).data);
    if (error !== undefined) throw new Error(this.contract.nameOf(error));
    return this.contract.decode(name, result);
  }

  async ask(name: string, ...values: Values): Promise<Lookup> {
    const call = {to: this.contract.address, data: this.contract.encode(name, ...values)};
    const {error} = await this.anvil.ask("eth_call", [call, "latest"]);
    const [sender, urls, callData, callback, extraData] = AbiError.decode(
      OFFCHAIN_LOOKUP,
      error?.data as never,
    ) as unknown as readonly [string, readonly string[], string, string, string];
    if (sender.toLowerCase() !== this.contract.address) throw new Error(`the lookup is that of ${sender}`);
    return {urls, callData, callback, extraData};
  }

  async fetch({urls: [url = ""], callData}: Lookup): Promise<{status: number; text: string}> {
    const sender = this.contract.address;
    const isGet = url.includes("{data}");
    const response = isGet
      ? await fetch(url.replace("{sender}", sender).replace("{data}", callData))
      : await fetch(url, {
          method: "POST",
          headers: {"content-type": "application/json"},
          body: JSON.stringify({data: callData, sender}),
        });
    return {status: response.status, text: await response.text()};
  }

  callBack(lookup: Lookup, response: string): Promise<RpcAnswer> {
    return this.anvil.ask("eth_call", [this.encodeCallBack(lookup, response), "latest"]);
  }

  /** @returns what each answer is refused with; undefined: accepted */
  async judge(
    calls: readonly (readonly [lookup: Lookup, response: string])[],
  ): Promise<(string | undefined)[]> {
    const verdicts: (string | undefined)[] = [];
    for (let first = 0; first < calls.length; first += MAX_BATCH) {
      const batch = calls.slice(first, first + MAX_BATCH).map((call, at) => {
        const params = [this.encodeCallBack(...call), "latest"];
        return {jsonrpc: "2.0", id: first + at, method: "eth_call", params};
      });
      const answers = (await this.anvil.send(batch)) as readonly (RpcAnswer & {readonly id: number})[];
      for (const {id, error} of answers) verdicts[id] = error?.message;
    }
    return verdicts;
  }

  private encodeCallBack({callback, extraData}: Lookup, response: string): object {
    const args = AbiParameters.encode(TWO_BYTES, [response, extraData] as never);
    return {to: this.contract.address, data: `${callback}${args.slice(2)}`};
  }
}

/** What a contract asks proofd. @param slots - 32 bytes each */
export function encodeQuestion(
  account: string,
  slots: readonly string[],
  dynamic: bigint,
  isTrie: boolean,
): string {
  return AbiFunction.encodeData(PROVE_SLOTS, [account, slots, dynamic, isTrie] as never);
}

export function decodeResponse(data: string): Response {
  return AbiParameters.decode(RESPONSE, data as never) as unknown as Response;
}

export function encodeResponse(response: Response): string {
  return AbiParameters.encode(RESPONSE, response as never);
}

export function decodeExtra(data: string): Extra {
  return AbiParameters.decode(EXTRA, data as never) as unknown as Extra;
}

export function encodeExtra(extra: Extra): string {
  return AbiParameters.encode(EXTRA, extra as never);
}
