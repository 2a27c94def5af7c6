// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Account, IProofVerifier} from "./IProofVerifier.sol";

/// What a hash suite gives to a verifier: docs/proofs.md, section 1.
abstract contract HashSuite is IProofVerifier {
    /// A branch of a tree. Both words are digests.
    function _hashPair(bytes32 left, bytes32 right) internal view virtual returns (bytes32);

    /// A leaf, from its opening. `prev` and `next` are below 2^40.
    function _hashLeaf(uint256 prev, uint256 next, bytes32 hKey, bytes32 hVal) internal view virtual returns (bytes32);

    /// A top root. `nextFreeNode` is below 2^40.
    function _hashRoot(uint256 nextFreeNode, bytes32 subRoot) internal view virtual returns (bytes32);

    /// hKey of an account.
    function _hashAddress(address account) internal view virtual returns (bytes32);

    /// hKey of a slot, and hVal of a slot's value.
    function _hashWord(bytes32 word) internal view virtual returns (bytes32);

    /// hVal of an account.
    function _hashAccount(Account memory value) internal view virtual returns (bytes32);

    /// Check 13. @return the same word @dev reverts if it cannot be an output of the hash
    function _digest(bytes32 word) internal pure virtual returns (bytes32);

    /// hKey of the tail leaf.
    function _tailKey() internal pure virtual returns (bytes32);

    /// The top root of a new tree.
    function _newTreeRoot() internal pure virtual returns (bytes32);

    /// codeHash of an account without code.
    function _codeHashOfNoCode() internal pure virtual returns (bytes32);

    /// The empty sub-trees z(0) .. z(39), 32 bytes each.
    function _zeroSubTrees() internal pure virtual returns (bytes memory);
}
