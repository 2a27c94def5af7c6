/** Parameters of a call of chain_estimateGas that never ends, as JSON text. */
const LOOP = `0x${"99".repeat(20)}`;

/** JUMPDEST PUSH1 0 JUMP, as the code of an account that the caller makes up. */
export const ENDLESS = JSON.stringify([{to: LOOP}, "latest", {[LOOP]: {code: "0x5b600056"}}]);
