package format

// chatMembers are the members of a request for a chat completion that bring nothing into the answer: those of
// OpenAI's API, and what compatible servers (vLLM, llama.cpp, Ollama, Mistral, DeepSeek, xAI, OpenRouter, Groq,
// Together, Fireworks, Qwen, GLM) take for sampling, shape, reasoning and accounting. An answer does not say
// whether the provider looked something up or put documents before the model; what is not here may do so.
var chatMembers = keySet(`messages model tools functions tool_choice function_call parallel_tool_calls stream stream_options user metadata
	safety_identifier prompt_cache_key prompt_cache_retention store service_tier response_format modalities audio prediction
	verbosity temperature top_p top_k top_a min_p typical_p tfs_z n best_of seed random_seed stop stop_token_ids max_tokens
	max_completion_tokens min_tokens max_new_tokens frequency_penalty presence_penalty repetition_penalty repeat_penalty
	repeat_last_n length_penalty no_repeat_ngram_size logit_bias logprobs top_logprobs prompt_logprobs logits_processors
	allowed_token_ids bad_words ignore_eos do_sample use_beam_search early_stopping reasoning reasoning_effort
	reasoning_format reasoning_split include_reasoning thinking thinking_budget enable_thinking think prompt_mode
	chat_template chat_template_kwargs add_generation_prompt continue_final_message add_special_tokens mm_processor_kwargs
	skip_special_tokens spaces_between_special_tokens include_stop_str_in_output truncate_prompt_tokens echo
	return_token_ids return_tokens_as_token_ids guided_json guided_regex guided_choice guided_grammar
	guided_decoding_backend guided_whitespace_pattern structured_outputs structural_tag grammar json_schema format options
	keep_alive cache_prompt id_slot n_predict n_keep samplers mirostat mirostat_tau mirostat_eta priority request_id
	cache_salt safe_prompt transforms models route provider usage session_id trace cache_control safety_model
	prompt_truncate_len context_length_exceeded_behavior vl_high_resolution_images incremental_output
	disable_tool_validation deferred debug`)
