// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account} from "./IProofVerifier.sol";
import {Poseidon2} from "./Poseidon2.sol";
import {ProofCursor} from "./ProofCursor.sol";
import {ProofVerifier} from "./ProofVerifier.sol";

/// Proofs of chains whose hash suite is `poseidon2`.
///
/// Between permutations, 32 bytes are kept as Poseidon2.sol takes them: two words of four 37-bit slots, whose lanes need not be below p.
contract Poseidon2ProofVerifier is ProofVerifier {
    bytes32 private constant TAIL_KEY = 0x7f0000007f0000007f0000007f0000007f0000007f0000007f0000007f000000;
    bytes32 private constant NEW_TREE_ROOT = 0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7;
    bytes32 private constant CODE_HASH_OF_NO_CODE = 0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc;
    /// H of 32 zero bytes, in slots: what most messages begin with.
    uint256 private constant ZERO_HASH_0 = 0x32b55c280ecfd4a10006c5502e07e217b63;
    uint256 private constant ZERO_HASH_1 = 0x61fc3b58047a120d80a28b54480220647fc;
    /// H of two of the one before, beginning with zero bytes. In slots: 64 bytes each.
    bytes private constant ZERO_SUB_TREES =
        hex"00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        hex"0000000000000000000000000000112a38f381b72a5c0c0ebe319880222539bf00000000000000000000000000000c49fa0580b0a2df58042335e4007704c426"
        hex"00000000000000000000000000001339fd7f005b62bee80067823ca0120497ca00000000000000000000000000001e5377400042fe43f40b1edf81004ce93b96"
        hex"00000000000000000000000000000944a45d005efa900c021ae8ea4014bd68b3000000000000000000000000000027d23f95804e1607f40af6d03c806cdf4ad5"
        hex"00000000000000000000000000002d14154f010325ed9c06d3f9dd80446e6c1d00000000000000000000000000000c7ce9a4819a9a7194006f1314e03daba4f4"
        hex"00000000000000000000000000000848e87f80f967457406573aa6a0621353eb00000000000000000000000000003166c09e0069f1cea00a5846d7204ef62c0b"
        hex"0000000000000000000000000000249c633e016b6bedd808388a9c802616ec63000000000000000000000000000037e73e7980f41453280eb4aa50c03e0819d1"
        hex"00000000000000000000000000001993c4c781f067bf340eb6a352e06ce3a87b00000000000000000000000000002a47d8b681a62c6b440d6a90ab206e274caf"
        hex"00000000000000000000000000003bfc67c48033b02cd40e5583bc606991a0e600000000000000000000000000000c434d5880bf7e1f140f3bb77ae0093cfd5d"
        hex"00000000000000000000000000001b274bdb8027c64c5004d1b0b7a01b3f8843000000000000000000000000000019616e7380a53d4b580aa69d518075506eb5"
        hex"00000000000000000000000000002a56118481863238e40399a8e48040565d6c000000000000000000000000000007bacf1680b65a20500690a12580142b2650"
        hex"0000000000000000000000000000038ad16c81d1e339b00aae2eb5e05f1101ea00000000000000000000000000003c71d48b81d0f68b040312cf862008116ca1"
        hex"00000000000000000000000000003a062c8f8198c547fc01de06d6602f829f7b00000000000000000000000000003d36d2c6011a4e1594038ed63e204dc83066"
        hex"0000000000000000000000000000360a7fcf01e07db670016ef520a07a2431b900000000000000000000000000000b47f75980598005bc06bce219a02030facb"
        hex"000000000000000000000000000028e9ea6f80826f3bd40bb9bc8ce040a4d810000000000000000000000000000020c82b7e0173789d7008903505807d22e2ee"
        hex"00000000000000000000000000003df017a881bc1703800da302f9e07aa3083a00000000000000000000000000001a07016601234eed0405d4f73de05b853f8a"
        hex"00000000000000000000000000001a15153e8033b67d5c01293e6d204ae72460000000000000000000000000000036d56b1301d8784b940a2c84e5a00684afc7"
        hex"00000000000000000000000000003eb0ba9a004f046ee40631a17040724bcf16000000000000000000000000000026efd044002b31f5ac08655318a0615e10a0"
        hex"0000000000000000000000000000249f0234004ac96d200e3e37ff604f9b3ee500000000000000000000000000000cb9115600ce74cc940a72f1ef6021c8299b"
        hex"00000000000000000000000000003c8bc96c8069896abc0396c2fc804c310c0000000000000000000000000000000772371f00313b5ea40a2dda810047cbd8b0"
        hex"00000000000000000000000000001dfb56e7800c0e6ea803e469248020b04c7000000000000000000000000000001a4b13f780c2b17390038d9a77c02f1db64a"
        hex"00000000000000000000000000001428521000fe9dc51809e4c92600019159f7000000000000000000000000000002583c8980dba9f6ec05e472440032e35d1c"
        hex"00000000000000000000000000000ec1024c001300f03c0122fa0d005e11a08b000000000000000000000000000006fc747a80fba44b7802b6cd0d207227e590"
        hex"000000000000000000000000000019c4c73201923ca2840500cec1406b9e734c000000000000000000000000000026d4adfc005b5ec9ac09bec23a401d8003be"
        hex"00000000000000000000000000002b70b09f0019bf99480ab227b4407287f23f00000000000000000000000000001f78be56818dcf77d40345e23bc05224d095"
        hex"00000000000000000000000000000b2715b8005a884fa4088f5cd0601294bc3100000000000000000000000000002e785697007a7ac0740e40a561a074e7a9e5"
        hex"000000000000000000000000000026ec127601e30ddf3c04b8a3b0e0710b5d2900000000000000000000000000000be053ec0186dba90c06b9dbe9604fb3e7a9"
        hex"00000000000000000000000000003e7a53e00144efb1bc031913494023dde0ea00000000000000000000000000000f1bb30281e7f30c5c07eaf6e1600db81f51"
        hex"0000000000000000000000000000295581b4803a93d33406380e1a002d88c83c00000000000000000000000000001e6187aa80f53f6e4c08f758ba00755116fd"
        hex"00000000000000000000000000002998847081b5b144a8045b35f8c0075af226000000000000000000000000000039d6d15b817199548408123ceaa0719a4ab8"
        hex"000000000000000000000000000011eedde381f8f318a402b8ff85203199d9110000000000000000000000000000375b9370811aacf15c026a6340006777380e"
        hex"00000000000000000000000000002c0e0181011247e4b00a683cac8032334bbe0000000000000000000000000000174515eb01d77d395808f370c9a06b99ea70"
        hex"000000000000000000000000000010b5876f817da6c2240f56008d6074682723000000000000000000000000000027c6662581e8fd7d40049c04f7402fae2a8e"
        hex"000000000000000000000000000009e63a340168bb729404af80eb404bf107fb00000000000000000000000000002072ecee00268edba00f80345f005b13f02b"
        hex"000000000000000000000000000017588788008c49f71000029861c001ddd7d200000000000000000000000000003affa540004b1f85640bf90c0bc003667cd8"
        hex"0000000000000000000000000000054a8f4680d986ac5c0476c4b9a07a52b9630000000000000000000000000000367e7be0808d753dc40cdcb54120710cd6e6"
        hex"00000000000000000000000000000f1b616400cd0b3e000441dda7e00685d36200000000000000000000000000001cc30bc20003c34e1c099f178760549b4d93"
        hex"0000000000000000000000000000364a7c0081c0268dac0cedd84fa00a6f4da800000000000000000000000000002e1e98b5005e381a8402c3265d607eb5777c"
        hex"000000000000000000000000000022c0103c00c147d9ec0ae8085ac075e650da00000000000000000000000000000968c0d08087f9ec28097b6bfb60496bfe6d"
        hex"000000000000000000000000000031cdf7a680956ccc4006a86e844012d4e771000000000000000000000000000006deac15811fb3871c0d4903e7c07dea1639";

    /// Four 32-bit limbs to slots.
    function _spreadLimbs(uint256 limbs) private pure returns (uint256 slots) {
        unchecked {
            // Multiplying by 2^n - 1 and adding is a shift by n of what is masked.
            slots = limbs + (limbs >> 64 << 64) * 0x3ff;
            slots += (slots & 0x3fffffffc0000000000ffffffff00000000) * 0x1f;
        }
    }

    /// Four 16-bit limbs to slots: `safe` of 8 bytes.
    function _spreadSafe(uint256 limbs) private pure returns (uint256 slots) {
        unchecked {
            slots = limbs + (limbs >> 32 << 32) * 0x3ffffffffff;
            slots += (slots & 0x3fffc00000000000000ffff0000) * 0x1fffff;
        }
    }

    function _toDigest(uint256 s0, uint256 s1) private pure returns (bytes32) {
        return bytes32(_joinLimbs(s0) << 128 | _joinLimbs(s1));
    }

    /// Four slots to 32-bit limbs below p.
    function _joinLimbs(uint256 slots) private pure returns (uint256 limbs) {
        assembly ("memory-safe") {
            let p := 0x7f000001
            limbs := or(
                or(shl(96, mod(shr(111, slots), p)), shl(64, mod(and(shr(74, slots), 0x1fffffffff), p))),
                or(shl(32, mod(and(shr(37, slots), 0x1fffffffff), p)), mod(and(slots, 0x1fffffffff), p))
            )
        }
    }

    /// Zero, for the start of a hash. The compiler does not see that it is: else it would copy the permutation for constants, and the code
    /// would be too large. Memory at 0x60 is always zero.
    function _start() private pure returns (uint256 h) {
        assembly ("memory-safe") {
            h := mload(0x60)
        }
    }

    /// Takes a digest into the hash.
    function _absorb(uint256 h0, uint256 h1, bytes32 digest) private pure returns (uint256, uint256) {
        uint256 word = uint256(digest);
        return Poseidon2.compress(h0, h1, _spreadLimbs(word >> 128), _spreadLimbs(uint128(word)));
    }

    /// Takes the half of a safe word into the hash: 16 bytes.
    function _absorbHalf(uint256 h0, uint256 h1, uint256 plain) private pure returns (uint256, uint256) {
        return Poseidon2.compress(h0, h1, _spreadSafe(plain >> 64), _spreadSafe(uint64(plain)));
    }

    /// Takes a safe word into the hash.
    function _absorbSafe(uint256 h0, uint256 h1, uint256 word) private pure returns (uint256, uint256) {
        (h0, h1) = _absorbHalf(h0, h1, word >> 128);
        return _absorbHalf(h0, h1, uint128(word));
    }

    /// Begins a hash with a safe word.
    function _beginSafe(uint256 word) private pure returns (uint256 h0, uint256 h1) {
        if (word >> 128 != 0) return _absorbSafe(_start(), _start(), word);
        return _absorbHalf(ZERO_HASH_0 | _start(), ZERO_HASH_1 | _start(), word);
    }

    function _foldRun(
        ProofCursor memory cursor,
        bytes memory zero,
        bytes32 node,
        uint256 index,
        uint256 bitmap,
        uint256 from,
        uint256 to
    ) internal pure override returns (bytes32) {
        if (from == to) return node;
        unchecked {
            uint256 n0 = _spreadLimbs(uint256(node) >> 128);
            uint256 n1 = _spreadLimbs(uint128(uint256(node)));
            for (uint256 height = from; height < to; ++height) {
                uint256 s0;
                uint256 s1;
                assembly ("memory-safe") {
                    let z := add(add(zero, 0x20), shl(6, height))
                    s0 := mload(z)
                    s1 := mload(add(z, 0x20))
                }
                if (bitmap >> height & 1 != 0) {
                    uint256 sibling = uint256(_digest(cursor.readWord()));
                    uint256 e0 = s0;
                    uint256 e1 = s1;
                    s0 = _spreadLimbs(sibling >> 128);
                    s1 = _spreadLimbs(uint128(sibling));
                    if (s0 == e0 && s1 == e1) revert EmptySiblingSent();
                }
                if (index >> height & 1 == 0) (n0, n1, s0, s1) = (s0, s1, n0, n1);
                (s0, s1) = Poseidon2.compress(_start(), _start(), s0, s1);
                (n0, n1) = Poseidon2.compress(s0, s1, n0, n1);
            }
            return _toDigest(n0, n1);
        }
    }

    function _hashPair(bytes32 left, bytes32 right) internal pure override returns (bytes32) {
        (uint256 h0, uint256 h1) = _absorb(_start(), _start(), left);
        (h0, h1) = _absorb(h0, h1, right);
        return _toDigest(h0, h1);
    }

    function _hashLeaf(uint256 prev, uint256 next, bytes32 hKey, bytes32 hVal)
        internal
        pure
        override
        returns (bytes32)
    {
        (uint256 h0, uint256 h1) = _beginSafe(prev);
        (h0, h1) = _absorbSafe(h0, h1, next);
        (h0, h1) = _absorb(h0, h1, hKey);
        (h0, h1) = _absorb(h0, h1, hVal);
        return _toDigest(h0, h1);
    }

    function _hashRoot(uint256 nextFreeNode, bytes32 subRoot) internal pure override returns (bytes32) {
        (uint256 h0, uint256 h1) = _beginSafe(nextFreeNode);
        (h0, h1) = _absorb(h0, h1, subRoot);
        return _toDigest(h0, h1);
    }

    function _hashAddress(address account) internal pure override returns (bytes32) {
        uint256 plain = uint160(account);
        // Ten limbs: the second block has two, and zeros on their left.
        (uint256 h0, uint256 h1) = _absorbHalf(_start(), _start(), plain >> 32);
        (h0, h1) = _absorbHalf(h0, h1, uint32(plain));
        return _toDigest(h0, h1);
    }

    function _hashWord(bytes32 word) internal pure override returns (bytes32) {
        (uint256 h0, uint256 h1) = _beginSafe(uint256(word));
        return _toDigest(h0, h1);
    }

    function _hashAccount(Account memory value) internal pure override returns (bytes32) {
        (uint256 h0, uint256 h1) = _beginSafe(value.nonce);
        (h0, h1) = _absorbSafe(h0, h1, value.balance);
        (h0, h1) = _absorb(h0, h1, value.storageRoot);
        (h0, h1) = _absorb(h0, h1, value.codeHash);
        (h0, h1) = _absorbSafe(h0, h1, uint256(value.keccakCodeHash));
        (h0, h1) = _absorbSafe(h0, h1, value.codeSize);
        return _toDigest(h0, h1);
    }

    /// Each of its eight limbs is below p.
    function _digest(bytes32 word) internal pure override returns (bytes32) {
        uint256 beyond;
        assembly ("memory-safe") {
            // Every second limb, and 2^32 - p added to it: 2^32 is reached from p on.
            let limbs := 0xffffffff00000000ffffffff00000000ffffffff00000000ffffffff
            let rest := 0x80ffffff0000000080ffffff0000000080ffffff0000000080ffffff
            let carries := 0x100000000000000010000000000000001000000000000000100000000
            beyond := and(or(add(and(word, limbs), rest), add(and(shr(32, word), limbs), rest)), carries)
        }
        if (beyond != 0) revert NotADigest(word);
        return word;
    }

    function _tailKey() internal pure override returns (bytes32) {
        return TAIL_KEY;
    }

    function _newTreeRoot() internal pure override returns (bytes32) {
        return NEW_TREE_ROOT;
    }

    function _codeHashOfNoCode() internal pure override returns (bytes32) {
        return CODE_HASH_OF_NO_CODE;
    }

    function _zeroSubTrees() internal pure override returns (bytes memory) {
        return ZERO_SUB_TREES;
    }
}
