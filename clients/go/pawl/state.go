package pawl

import (
	"encoding/json"
	"time"
)

// WorkflowState is the state of a run when the scheduler gave a node of it to an executor. CurrentNode and RetryCount are about the node that
// started last.
type WorkflowState struct {
	WorkflowID   string   `json:"workflow_id"`
	RunID        string   `json:"run_id"`
	Goal         string   `json:"goal"`
	Constraints  []string `json:"constraints"`
	Status       string   `json:"status"`
	CurrentNode  string   `json:"current_node"`
	CurrentNodes []string `json:"current_nodes"`

	IterationCount     int        `json:"iteration_count"`
	MaxIterations      int        `json:"max_iterations"`
	StartedAt          *time.Time `json:"started_at,omitempty"`
	MaxExecutionTimeMs int64      `json:"max_execution_time_ms"`

	RetryCount        int               `json:"retry_count"`
	Retries           map[string]int    `json:"retries"`
	MaxRetries        int               `json:"max_retries"`
	LastError         string            `json:"last_error"`
	CompensationStack []json.RawMessage `json:"compensation_stack"`

	WaitingFor       string     `json:"waiting_for,omitempty"`
	WaitingSince     *time.Time `json:"waiting_since,omitempty"`
	WaitingTimeoutAt *time.Time `json:"waiting_timeout_at,omitempty"`

	TotalTokensUsed int64    `json:"total_tokens_used"`
	MaxTokenBudget  *int64   `json:"max_token_budget,omitempty"`
	TotalCostUSD    float64  `json:"total_cost_usd"`
	BudgetUSD       *float64 `json:"budget_usd,omitempty"`

	// Memory has the keys of the run's memory that the node reads.
	Memory              map[string]json.RawMessage `json:"memory"`
	VisitedNodes        []string                   `json:"visited_nodes"`
	VisitedNodesLeftOut int                        `json:"visited_nodes_left_out"`
	SupervisorHistory   []json.RawMessage          `json:"supervisor_history"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	EventID   uint64    `json:"event_id"`
}

// State is the state of the run. It is nil unless the handler asks for it by WithState.
func (t *Task) State() *WorkflowState { return t.state }
