// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ISlotVerifier} from "./IProofVerifier.sol";
import {ProvenReader} from "./ProvenReader.sol";
import {StateRootOracle} from "./StateRootOracle.sol";

/// An example, for layer 1: reads by CCIP-read what a `Deposit` on layer 2 has recorded for a depositor.
contract DepositReader is ProvenReader {
    StateRootOracle public immutable oracle;
    /// The contract on layer 2, and the slot of its mapping.
    address public immutable account;
    uint256 public immutable mappingSlot;
    /// So many blocks may lie between the block that is read and the newest one of the oracle.
    uint256 public immutable maxLag;
    /// Of the gateway.
    string public url;

    error BlockTooOld(uint256 blockNumber);

    constructor(
        ISlotVerifier verifier_,
        StateRootOracle oracle_,
        address account_,
        uint256 mappingSlot_,
        uint256 maxLag_,
        string memory url_
    ) ProvenReader(verifier_, false) {
        oracle = oracle_;
        account = account_;
        mappingSlot = mappingSlot_;
        maxLag = maxLag_;
        url = url_;
    }

    function owed(address depositor) external view returns (uint256) {
        bytes32[] memory slots = new bytes32[](1);
        slots[0] = keccak256(abi.encode(depositor, mappingSlot));
        _lookUp(account, slots, 0, "");
    }

    function _urls() internal view override returns (string[] memory urls) {
        urls = new string[](1);
        urls[0] = url;
    }

    function _stateRoot(uint256 blockNumber, bytes memory) internal view override returns (bytes32) {
        uint256 newest = oracle.lastBlock();
        // An oracle that only asks a rollup's contract knows no newest block: then any old one would pass.
        if (newest == 0 || blockNumber + maxLag < newest) revert BlockTooOld(blockNumber);
        return oracle.stateRoot(blockNumber);
    }

    function _result(bytes[] memory values, bytes memory) internal pure override returns (bytes memory) {
        return values[0];
    }
}
