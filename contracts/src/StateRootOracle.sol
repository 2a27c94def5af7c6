// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// The part of a rollup's layer-1 contract that holds finalized state roots.
interface IRollup {
    /// @return zero if the block was not finalized, or is between two that were finalized together
    function stateRootHashes(uint256 blockNumber) external view returns (bytes32);
}

/// State roots of layer-2 blocks. A root is recorded by the source, for example a bridge that carries finalized roots to this chain. On the
/// chain where the rollup's contract lives, roots can be read from that instead.
///
/// It answers and emits as a rollup's contract does, so proofd can follow it (--rollup): what is recorded here is finalized there.
contract StateRootOracle is IRollup {
    /// Who may record roots; zero if nobody.
    address public immutable source;
    /// The rollup's contract, for blocks that are not recorded; zero if it is on another chain.
    IRollup public immutable rollup;
    mapping(uint256 blockNumber => bytes32) private recorded;
    /// The newest block that is recorded; zero if none is.
    uint256 public lastBlock;

    /// The blocks from `startBlockNumber` on, which follow those of the event before, are finalized. The first event begins at block 0.
    /// @param shnarf is zero here: a rollup's contract commits to its proof with it
    event DataFinalizedV3(
        uint256 indexed startBlockNumber,
        uint256 indexed endBlockNumber,
        bytes32 indexed shnarf,
        bytes32 parentStateRootHash,
        bytes32 finalStateRootHash
    );

    error NotTheSource(address sender);
    error RootIsZero();
    /// A finalized root never changes.
    error AnotherRootIsRecorded(uint256 blockNumber, bytes32 root);
    /// Blocks are finalized in their order.
    error LaterBlockIsRecorded(uint256 recordedBlock);
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
        // Zero if nothing is recorded.
        bytes32 parent = recorded[lastBlock];
        if (parent != 0 && blockNumber < lastBlock) revert LaterBlockIsRecorded(lastBlock);
        uint256 start = parent == 0 ? 0 : lastBlock + 1;
        recorded[blockNumber] = root;
        lastBlock = blockNumber;
        emit DataFinalizedV3(start, blockNumber, 0, parent, root);
    }

    /// @return root of a finalized block; reverts if it is not known
    function stateRoot(uint256 blockNumber) external view returns (bytes32 root) {
        root = stateRootHashes(blockNumber);
        if (root == 0) revert NoRoot(blockNumber);
    }

    function stateRootHashes(uint256 blockNumber) public view returns (bytes32 root) {
        root = recorded[blockNumber];
        if (root == 0 && address(rollup) != address(0)) root = rollup.stateRootHashes(blockNumber);
    }
}
