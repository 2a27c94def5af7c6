/** Constants that page.build.js inserts. */

/** From package.json. */
declare const VERSION: string;

/** From demo/addresses.json. */
declare const DEMO: {
  readonly chainId: number;
  readonly account: {readonly address: string};
  readonly token: {readonly address: string; readonly holderBalanceSlot: string};
};

export const version: string = VERSION;

/** Samples to click on the demo chain. */
export const DEMO_CHAIN_ID: bigint = BigInt(DEMO.chainId);
export const DEMO_SAMPLES: readonly Sample[] = [
  {title: "an account", address: DEMO.account.address, slots: ""},
  {title: "a token and a balance in it", address: DEMO.token.address, slots: DEMO.token.holderBalanceSlot},
];

export interface Sample {
  readonly title: string;
  readonly address: string;
  readonly slots: string;
}
