/** Block differences of every kind: accounts that are created, changed, deleted and created again. */
import type {DifferenceLine} from "./differenceLine.ts";

function address(n: number): string {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

/**
 * Each block creates an account, changes another, zeroes a slot, and now and then deletes an account or creates one again.
 *
 * @param n - number of the block
 * @param branch - blocks of two branches have other values
 */
export function createMixedLine(n: number, branch = 0): DifferenceLine {
  const quantity = `0x${(n + 1 + 100 * branch).toString(16)}`;
  return {
    number: `0x${n.toString(16)}`,
    hash: "",
    accounts: {
      [address(1000 + n)]: {balance: quantity, ...(n % 3 === 0 && {code: "0x6001"})},
      [address(1)]: {nonce: quantity, storage: {[quantity]: quantity, [`0x${n.toString(16)}`]: "0x0"}},
      ...(n % 5 === 4 && {[address(1000 + n - 2)]: null}),
      ...(n % 7 === 6 && {
        [address(2)]: {reset: true as const, balance: quantity, storage: {"0x1": quantity}},
      }),
    },
  };
}
