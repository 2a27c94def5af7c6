// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IProofVerifier} from "./IProofVerifier.sol";

/// A place in proof bytes, which stay in calldata.
struct ProofCursor {
    /// Calldata offset of the next byte.
    uint256 position;
    /// Calldata offset of the end of the proof.
    uint256 end;
}

using ProofReader for ProofCursor global;

library ProofReader {
    /// Moves on by `length` bytes, which are there. @return start calldata offset of the first of them
    function skip(ProofCursor memory cursor, uint256 length) internal pure returns (uint256 start) {
        bool isShort;
        assembly ("memory-safe") {
            start := mload(cursor)
            let next := add(start, length)
            isShort := gt(next, mload(add(cursor, 0x20)))
            mstore(cursor, next)
        }
        if (isShort) revert IProofVerifier.ProofTooShort();
    }

    /// @param length in bytes, at most 32
    function readUint(ProofCursor memory cursor, uint256 length) internal pure returns (uint256) {
        return uintAt(cursor.skip(length), length);
    }

    function readWord(ProofCursor memory cursor) internal pure returns (bytes32 word) {
        uint256 start = cursor.skip(32);
        assembly ("memory-safe") {
            word := calldataload(start)
        }
    }

    /// A `number` of docs/proofs.md, section 9.3. @return value
    function readNumber(ProofCursor memory cursor) internal pure returns (uint256 value) {
        unchecked {
            uint256 start = cursor.position;
            return cursor.readDigits(start + 1, uintAt(start, 1));
        }
    }

    /// A number without its length byte, which may lie beyond the end like the digits.
    /// @param start calldata offset
    /// @param length in bytes, below 256
    function readDigits(ProofCursor memory cursor, uint256 start, uint256 length) internal pure returns (uint256 value) {
        bool isRefused;
        assembly ("memory-safe") {
            let word := calldataload(start)
            let next := add(start, length)
            // A shift by 256 bits or more gives zero.
            value := shr(sub(256, shl(3, length)), word)
            isRefused := or(
                or(gt(length, 32), and(iszero(byte(0, word)), gt(length, 0))),
                gt(next, mload(add(cursor, 0x20)))
            )
            mstore(cursor, next)
        }
        if (isRefused) {
            if (cursor.position > cursor.end) revert IProofVerifier.ProofTooShort();
            revert IProofVerifier.NumberNotCanonical();
        }
    }

    /// @param length in bytes, at most 32
    function uintAt(uint256 start, uint256 length) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            // A shift by 256 bits gives zero.
            value := shr(sub(256, shl(3, length)), calldataload(start))
        }
    }
}
