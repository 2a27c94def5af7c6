/**
 * What ethash pays for a block from berlin on (EIP-1234): 2 ether to its miner, and a part of it for each uncle; to an uncle's miner the
 * less the older the uncle is.
 */
import type {Evm} from "../../interpreter/evm.ts";
import type {Header, Uncle} from "../block/decodedBlock.ts";

const REWARD = 2n * 10n ** 18n;
const UNCLE_PARTS = 8n;
const NEPHEW_PARTS = 32n;

export function payRewards(evm: Evm, {coinbase, number}: Header, uncles: readonly Uncle[]): void {
  evm.beginTransaction();
  for (const uncle of uncles)
    evm.addBalance(uncle.coinbase, ((uncle.number + UNCLE_PARTS - number) * REWARD) / UNCLE_PARTS);
  evm.addBalance(coinbase, REWARD + (BigInt(uncles.length) * REWARD) / NEPHEW_PARTS);
  evm.endTransaction();
}
