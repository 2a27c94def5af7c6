/**
 * Compares one call on both sides. We estimate it, with the default tolerance and with none, and so does anvil. Then anvil
 * executes it with the gas that we found.
 */
import assert from "node:assert/strict";
import {quantity} from "../../../../client/bytes/hex.ts";
import type {CallObject, Overrides} from "../../../support/estimates/callObject.ts";
import {EstimateService} from "../../../support/estimates/estimateService.ts";
import type {SharedEstimates} from "../../../support/estimates/sharedEstimates.ts";
import type {RpcAnswer} from "../../../support/http/rpcAnswer.ts";
import type {Anvil} from "../../../support/processes/anvil.ts";
import {isSoak} from "../../../support/soak.ts";
import {type GasContracts, people} from "./gasAccounts.ts";
import {LAST_BLOCK} from "./gasChain.ts";
import {createKit, type FailingCase, type GasCase, type Kit} from "./gasKit.ts";

const TOLERANCE_PER_MILLE = 15n;
const BLOCK = quantity(BigInt(LAST_BLOCK));
/** More than anvil's base fee ever rises to. */
const GWEI = quantity(10n ** 9n);
/** People who can pay for a transaction. */
const PAYERS: readonly (string | undefined)[] = [people.alice, people.bob, people.dave, people.blocked].map(
  ({address}) => address,
);

interface Difference {
  readonly title: string;
  readonly ours: bigint;
  readonly anvils: bigint;
}

export class GasComparison {
  readonly kit: Kit;
  /** The difference of every call that was compared. */
  readonly differences: Difference[] = [];
  private readonly anvil: Anvil;
  private readonly tolerant: EstimateService;
  private readonly exact: EstimateService;

  private constructor(
    anvil: Anvil,
    contracts: GasContracts,
    tolerant: EstimateService,
    exact: EstimateService,
  ) {
    this.kit = createKit(contracts);
    this.anvil = anvil;
    this.tolerant = tolerant;
    this.exact = exact;
  }

  /**
   * @param shared - on the chain's store
   * @param anvil - the comparison's end stops it
   */
  static async start(contracts: GasContracts, shared: SharedEstimates, anvil: Anvil): Promise<GasComparison> {
    try {
      const tolerant = await EstimateService.on(shared);
      const exact = await EstimateService.on(shared, {gasTolerance: 0});
      return new GasComparison(anvil, contracts, tolerant, exact);
    } catch (error) {
      await anvil.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.exact.stop(), this.tolerant.stop(), this.anvil.stop()]);
  }

  /**
   * Our limits are enough, are the least to the tolerance, and are not above anvil's. `npm test` searches the least itself for
   * every third call only, which takes half of the time.
   */
  async compare({title, call, overrides, ...exceptions}: GasCase): Promise<void> {
    const ours = await estimateLimit(this.tolerant, call, overrides);
    const isExact = isSoak() || this.differences.length % 3 === 0;
    const least = isExact ? await estimateLimit(this.exact, call, overrides) : ours;
    const anvils = BigInt(await this.anvil.request("eth_estimateGas", call, BLOCK, overrides ?? {}));
    this.differences.push({title, ours, anvils});
    const sends = exceptions.dependsOnBlock !== true;
    await this.assertSucceeds(call, overrides, ours, sends);
    if (least !== ours) await this.assertSucceeds(call, overrides, least, sends);
    if (exceptions.spendsWhatItGets === true) {
      assert.ok(anvils <= ours, `anvil finds ${anvils}, we ${ours}`);
      return;
    }
    assert.ok(least <= ours, `${ours} by a search that stops early, ${least} by one that does not`);
    if (isExact)
      assert.ok(
        await this.fails(call, overrides, least - 1n),
        `${least - 1n} is enough too, not only ${least}`,
      );
    assert.ok(1000n * (ours - least) <= TOLERANCE_PER_MILLE * ours, `${ours} is too far above ${least}`);
    if (exceptions.guessedByAnvil === true)
      assert.ok(await this.fails(call, overrides, anvils), "anvil has guessed well");
    else assert.ok(1000n * ours <= (1000n + TOLERANCE_PER_MILLE) * anvils, `${ours}, but ${anvils} by anvil`);
  }

  /** We refuse the call as the case says, anvil refuses it too, and both report the same revert data. */
  async refuse({call, overrides, code, message, ignoredByAnvil}: FailingCase): Promise<void> {
    const {error} = await estimate(this.tolerant, call, overrides);
    assert.equal(error?.code, code, JSON.stringify(error));
    assert.match(error.message, message);
    const params = [call, BLOCK, overrides ?? {}];
    const called = await this.anvil.ask("eth_call", params);
    const estimated = await this.anvil.ask("eth_estimateGas", params);
    assert.equal(called.error === undefined, ignoredByAnvil === "both", JSON.stringify(called));
    assert.equal(estimated.error === undefined, ignoredByAnvil !== undefined, JSON.stringify(estimated));
    if (code !== 3) return;
    assert.equal(error.data, called.error?.data);
    assert.equal(error.data, estimated.error?.data);
  }

  /** By eth_call, and also by a transaction if `sends` and the sender can pay for one. */
  private async assertSucceeds(
    call: CallObject,
    overrides: Overrides | undefined,
    gas: bigint,
    sends: boolean,
  ): Promise<void> {
    const limited = {...call, gas: quantity(gas)};
    const {error} = await this.anvil.ask("eth_call", [limited, BLOCK, overrides ?? {}]);
    assert.equal(error, undefined, `eth_call with ${gas} gas: ${error?.message}`);
    if (!sends || overrides !== undefined || call.nonce !== undefined || !PAYERS.includes(call.from)) return;
    const namesFee = call.gasPrice !== undefined || call.maxFeePerGas !== undefined;
    const fee = namesFee
      ? {}
      : call.authorizationList === undefined
        ? {gasPrice: GWEI}
        : {maxFeePerGas: GWEI};
    const snapshot = await this.anvil.request<string>("evm_snapshot");
    const hash = await this.anvil.request<string>("eth_sendTransaction", {...limited, ...fee});
    await this.anvil.request("evm_mine");
    const receipt = await this.anvil.request<{status: string} | null>("eth_getTransactionReceipt", hash);
    assert.equal(await this.anvil.request("evm_revert", snapshot), true);
    // Everything is reverted but the base fee, which calls read at any block. Forks before london have none and refuse this.
    await this.anvil.ask("anvil_setNextBlockBaseFeePerGas", ["0x7"]);
    assert.equal(receipt?.status, "0x1", `a transaction with ${gas} gas`);
  }

  private async fails(call: CallObject, overrides: Overrides | undefined, gas: bigint): Promise<boolean> {
    const {error} = await this.anvil.ask("eth_call", [{...call, gas: quantity(gas)}, BLOCK, overrides ?? {}]);
    return error !== undefined;
  }
}

/** Our side of every comparison. */
function estimate(
  service: EstimateService,
  call: CallObject,
  overrides: Overrides | undefined,
): Promise<RpcAnswer> {
  return service.call("chain_estimateGas", [call, BLOCK, overrides ?? null]);
}

async function estimateLimit(
  service: EstimateService,
  call: CallObject,
  overrides: Overrides | undefined,
): Promise<bigint> {
  const {result, error} = await estimate(service, call, overrides);
  assert.equal(error, undefined);
  const {gasLimit, baseFeePerGas} = result as {gasLimit: string; baseFeePerGas: string};
  assert.equal(baseFeePerGas, "0x7");
  return BigInt(gasLimit);
}
