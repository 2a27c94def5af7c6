/**
 * The contracts that are called after a block's transactions: for withdrawal requests (EIP-7002) and consolidation requests
 * (EIP-7251). A block is invalid if one of them has no code or if its call fails. The library takes both for a call that returned
 * no requests.
 */
import type {Common, ParamsConfig, StateManagerInterface} from "@ethereumjs/common";
import type {EVM} from "@ethereumjs/evm";
import {type Address, createAddressFromBigInt, SYSTEM_ADDRESS} from "@ethereumjs/util";
import {toHex} from "../../storage/hex.ts";
import {type JsonObject, parseFixedBytes} from "./gethJson.ts";

interface SystemContract {
  readonly eip: number;
  /** The name of its address in the library. */
  readonly param: string;
  /** The same in Besu's genesis config. */
  readonly field: string;
}

const CONTRACTS: readonly SystemContract[] = [
  {eip: 7002, param: "withdrawalRequestPredeployAddress", field: "withdrawalRequestContractAddress"},
  {eip: 7251, param: "consolidationRequestPredeployAddress", field: "consolidationRequestContractAddress"},
];

/** The addresses that a genesis config sets. Without them, they are those of the EIPs. */
export function readSystemAddresses(config: JsonObject): ParamsConfig {
  return Object.fromEntries(
    CONTRACTS.filter(({field}) => config[field] !== undefined).map(({param, field}) => [
      param,
      toHex(parseFixedBytes(config[field], `config.${field}`, 20)),
    ]),
  );
}

/** Makes a failing call an error. */
export function watchSystemCalls(evm: EVM, common: Common): void {
  const runCall = evm.runCall.bind(evm);
  evm.runCall = async call => {
    const result = await runCall(call);
    const failure = result.execResult.exceptionError;
    if (failure === undefined || call.caller?.toString() !== SYSTEM_ADDRESS) return result;
    const called = CONTRACTS.find(one => call.to?.equals(addressOf(one, common)));
    throw new Error(
      `the call of the system contract ${call.to} (EIP-${called?.eip}) fails: ${failure.error}`,
    );
  };
}

/** Call it after the block, which may have made the contracts. @throws Error naming the one that has no code */
export async function checkSystemCode(common: Common, state: StateManagerInterface): Promise<void> {
  for (const contract of CONTRACTS) {
    if (!common.isActivatedEIP(contract.eip)) continue;
    const address = addressOf(contract, common);
    if ((await state.getCode(address)).length === 0)
      throw new Error(`the system contract ${address} (EIP-${contract.eip}) has no code`);
  }
}

function addressOf({param}: SystemContract, common: Common): Address {
  return createAddressFromBigInt(common.param(param));
}
