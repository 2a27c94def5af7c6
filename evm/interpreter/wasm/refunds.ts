/** The refund counter of the transaction. */

export let refund: i64 = 0;

export function setRefund(gas: i64): void {
  refund = gas;
}
