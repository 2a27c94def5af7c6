// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// An account's value: the words w0 .. w5 of docs/proofs.md, section 3, in this order.
struct Account {
    uint256 nonce;
    uint256 balance;
    /// The root of the account's storage tree.
    bytes32 storageRoot;
    /// The hash suite's own hash of the code.
    bytes32 codeHash;
    /// The hash that EXTCODEHASH gives.
    bytes32 keccakCodeHash;
    /// In bytes.
    uint256 codeSize;
}

/// An entry of a request for several accounts.
struct AccountRequest {
    address account;
    /// At most 16 384; may be none. A slot may stand twice.
    bytes32[] slots;
}

/// What a proof says about an entry.
struct ProvenAccount {
    bool exists;
    /// All zero if the account is not there.
    Account value;
    /// Of the slots, in the order of the request. Zero where absent; all zero if the account is absent or has no storage.
    bytes32[] slots;
}

interface ISlotVerifier {
    /// @param stateRoot a root that the caller trusts
    /// @param slots at least one and at most 16 384, in the order of the proof; a slot may stand twice
    /// @param proof for `account` with these slots
    /// @return values of the slots, zero where absent; all zero if the account is absent or has no storage
    function verifySlots(bytes32 stateRoot, address account, bytes32[] calldata slots, bytes calldata proof)
        external
        view
        returns (bytes32[] memory values);
}

/// Verifies proofs of accounts and slots: the proof bytes of docs/proofs.md, section 9. There is one implementation for each hash suite
/// with sparse trees.
interface IProofVerifier is ISlotVerifier {
    // One error for each check of docs/proofs.md, section 10, which has the reasons. The number is that of the check.

    /// 1: the first byte is not 0x01.
    error NotAnAccountProof();
    /// 1: the first byte is not 0x02.
    error NotAStorageProof();
    /// 2: the bytes end before the proof does.
    error ProofTooShort();
    /// 3: no leaves, or more than two for each key.
    error LeafCountOutOfRange(uint256 leafCount);
    /// 4: nextFreeNode is below 2, or below 3 in a storage part.
    error NextFreeNodeTooSmall(uint256 nextFreeNode);
    /// 5: the key table names a leaf that is not there.
    error NoSuchLeaf(uint256 leafNumber);
    /// 6: two different keys are said to be one leaf.
    error LeafOfTwoKeys(uint256 leafNumber);
    /// 7: no key names the leaf.
    error LeafWithoutKey(uint256 leafNumber);
    /// 8: the leaf index is not above the one before.
    error LeafIndexesNotAscending(uint256 leafIndex);
    /// 9: a leaf index, prev or next is not below nextFreeNode.
    error PositionNotInTree(uint256 position);
    /// 10: a key is said to be the head or the tail.
    error KeyAtHeadOrTail();
    /// 10: the head's prev is not 0, or the tail's next is not 1.
    error ListBeyondItsEnd();
    /// 11: a number has more than 32 bytes, or a leading zero byte.
    error NumberNotCanonical();
    /// 11: a slot that is said to be present is zero.
    error PresentSlotIsZero();
    /// 11: an account that is said to have code has none.
    error CodeSizeIsZero();
    /// 12: an account that is said to have storage has a new tree.
    error StorageRootOfNewTree();
    /// 13: the word is not a digest of the suite.
    error NotADigest(bytes32 word);
    /// 14: the bitmap has a bit at a height where no sibling is read.
    error UnreadBitmapBit();
    /// 15: a sibling is sent that is an empty sub-tree.
    error EmptySiblingSent();
    /// 16: a sibling that is not empty begins at or above nextFreeNode.
    error SiblingBeyondNextFreeNode();
    /// 17: the proof belongs to another root.
    error RootMismatch(bytes32 root);
    /// 18: the hKey of an absent key does not lie between those of its two leaves.
    error KeyNotBetweenLeaves();
    /// 18: the two leaves of an absent key are not neighbours.
    error LeavesNotNeighbours();
    /// 19: bytes follow the proof.
    error TrailingBytes();

    /// The precompile of the hash is missing, or there is not enough gas for it.
    error HashFailed();
    /// More than 16 384 entries.
    error TooManyAccounts();
    /// More than 16 384 slots of one account.
    error TooManySlots();

    /// @param stateRoot a root that the caller trusts
    /// @param proof for `account` alone, without slots
    /// @return exists whether the account is there
    /// @return value all zero if it is not
    function verifyAccount(bytes32 stateRoot, address account, bytes calldata proof)
        external
        view
        returns (bool exists, Account memory value);

    /// @param stateRoot a root that the caller trusts
    /// @param requests at least one and at most 16 384, in the order of the proof; an account may stand twice
    /// @param proof for these entries: a multiproof
    /// @return proven one for each entry, in the same order
    function verifyAccounts(bytes32 stateRoot, AccountRequest[] calldata requests, bytes calldata proof)
        external
        view
        returns (ProvenAccount[] memory proven);

    /// @param storageRoot that the caller trusts, of an account
    /// @param slots at least one and at most 16 384, in the order of the proof; a slot may stand twice
    /// @param proof of these slots alone
    /// @return values of the slots, zero where absent
    function verifyStorage(bytes32 storageRoot, bytes32[] calldata slots, bytes calldata proof)
        external
        view
        returns (bytes32[] memory values);
}
