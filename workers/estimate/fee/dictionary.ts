/**
 * The compressor's dictionary: bytes that many transactions share. The likeliest stand last, where DEFLATE reaches them
 * with the fewest bits.
 */

/** The first 4 bytes of keccak256 of the signature. */
const SELECTORS = [
  "1fad948c", // handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)
  "b6f9de95", // swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)
  "791ac947", // swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)
  "18cbafe5", // swapExactTokensForETH(uint256,uint256,address[],address,uint256)
  "7ff36ab5", // swapExactETHForTokens(uint256,address[],address,uint256)
  "38ed1739", // swapExactTokensForTokens(uint256,uint256,address[],address,uint256)
  "ac9650d8", // multicall(bytes[])
  "5ae401dc", // multicall(uint256,bytes[])
  "3593564c", // execute(bytes,bytes[],uint256)
  "42842e0e", // safeTransferFrom(address,address,uint256)
  "a22cb465", // setApprovalForAll(address,bool)
  "d0e30db0", // deposit()
  "2e1a7d4d", // withdraw(uint256)
  "23b872dd", // transferFrom(address,address,uint256)
  "095ea7b3", // approve(address,uint256)
  "a9059cbb", // transfer(address,uint256)
];

const WORD = "00".repeat(32);
/** The largest word, used by unlimited approvals. */
const MAX_WORD = "ff".repeat(32);
/** Small words, such as offsets and lengths in the ABI. */
const SMALL_WORDS = ["60", "40", "20", "02", "01"].map(last => "00".repeat(31) + last);
/** The zeros before an amount (24 bytes) and before an address (12 bytes). */
const PADDING = ["00".repeat(24), "00".repeat(12)];

export const DICTIONARY = Buffer.from(
  [MAX_WORD, WORD, ...SMALL_WORDS, ...SELECTORS.map(selector => selector + "00".repeat(12)), ...PADDING].join(
    "",
  ),
  "hex",
);
