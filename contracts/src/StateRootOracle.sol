// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// The part of a rollup's layer-1 contract that holds finalized state roots.
interface IRollup {
    /// @return zero if the block was not finalized, or is between two that were finalized together
    function stateRootHashes(uint256 blockNumber) external view returns (bytes32);
}

/// State roots of layer-2 blocks. A root is recorded by the source, for example a bridge that carries finalized roots to this chain. On the
/// chain where the rollup's contract lives, roots can be read from that instead.
contract StateRootOracle {
    /// Who may record roots; zero if nobody.
    address public immutable source;
    /// The rollup's contract, for blocks that are not recorded; zero if it is on another chain.
    IRollup public immutable rollup;
    mapping(uint256 blockNumber => bytes32) private recorded;

    event RootRecorded(uint256 indexed blockNumber, bytes32 root);

    error NotTheSource(address sender);
    error RootIsZero();
    /// A finalized root never changes.
    error AnotherRootIsRecorded(uint256 blockNumber, bytes32 root);
    error NoRoot(uint256 blockNumber);

    constructor(address source_, IRollup rollup_) {
        source = source_;
        rollup = rollup_;
    }

    /// Recording the same root again does nothing.
    function record(uint256 blockNumber, bytes32 root) external {
        if (msg.sender != source) revert NotTheSource(msg.sender);
        if (root == 0) revert RootIsZero();
        bytes32 known = recorded[blockNumber];
        if (known == root) return;
        if (known != 0) revert AnotherRootIsRecorded(blockNumber, known);
        recorded[blockNumber] = root;
        emit RootRecorded(blockNumber, root);
    }

    /// @return root of a finalized block; reverts if it is not known
    function stateRoot(uint256 blockNumber) external view returns (bytes32 root) {
        root = recorded[blockNumber];
        if (root == 0 && address(rollup) != address(0)) root = rollup.stateRootHashes(blockNumber);
        if (root == 0) revert NoRoot(blockNumber);
    }
}
