//go:build windows

package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

// patience is how long a service may take to stop.
const patience = 30 * time.Second

// Install makes the service, or changes the one there is, and starts it. It takes an administrator.
func (d Definition) Install() error {
	m, err := mgr.Connect()
	if err != nil {
		return fmt.Errorf("reach the service manager (as an administrator): %w", err)
	}
	defer m.Disconnect()
	s, err := d.make(m)
	if err != nil {
		return err
	}
	defer s.Close()
	again := []mgr.RecoveryAction{{Type: mgr.ServiceRestart, Delay: time.Second}}
	if err := s.SetRecoveryActions(again, 3600); err != nil {
		return fmt.Errorf("have it started again when it ends: %w", err)
	}
	if err := s.Start(); err != nil && !errors.Is(err, windows.ERROR_SERVICE_ALREADY_RUNNING) {
		return fmt.Errorf("start the service: %w", err)
	}
	return nil
}

// make is the service with this definition; one that runs is stopped first.
func (d Definition) make(m *mgr.Mgr) (*mgr.Service, error) {
	config := mgr.Config{
		ServiceType: windows.SERVICE_WIN32_OWN_PROCESS, StartType: mgr.StartAutomatic,
		DisplayName: d.Title, Description: d.About, ServiceStartName: d.Account,
	}
	s, err := m.OpenService(d.Name)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		if s, err = m.CreateService(d.Name, d.Program, config, d.Args...); err != nil {
			return nil, fmt.Errorf("make the service: %w", err)
		}
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the service: %w", err)
	}
	if err := stop(s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	config.BinaryPathName = quote(d.Program)
	for _, a := range d.Args {
		config.BinaryPathName += " " + quote(a)
	}
	if err := s.UpdateConfig(config); err != nil {
		return nil, errors.Join(fmt.Errorf("change the service: %w", err), s.Close())
	}
	return s, nil
}

// Remove stops the service and takes it away.
func (d Definition) Remove() error {
	m, err := mgr.Connect()
	if err != nil {
		return fmt.Errorf("reach the service manager (as an administrator): %w", err)
	}
	defer m.Disconnect()
	s, err := m.OpenService(d.Name)
	if err != nil {
		return fmt.Errorf("look at the service: %w", err)
	}
	defer s.Close()
	return errors.Join(stop(s), s.Delete())
}

// stop waits until the service has ended.
func stop(s *mgr.Service) error {
	_, err := s.Control(svc.Stop)
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		status, err := s.Query()
		if err != nil {
			return fmt.Errorf("stop the service: %w", err)
		}
		if status.State == svc.Stopped {
			return nil
		}
	}
	return errors.New("stop the service: it does not end")
}

// State reports whether the service is there, and whether it runs. Everybody may ask.
func (d Definition) State() (installed, running bool, err error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return false, false, fmt.Errorf("reach the service manager: %w", err)
	}
	defer windows.CloseServiceHandle(manager)
	name, err := windows.UTF16PtrFromString(d.Name)
	if err != nil {
		return false, false, err
	}
	handle, err := windows.OpenService(manager, name, windows.SERVICE_QUERY_STATUS)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("look at the service: %w", err)
	}
	s := &mgr.Service{Name: d.Name, Handle: handle}
	defer s.Close()
	status, err := s.Query()
	if err != nil {
		return true, false, fmt.Errorf("look at the service: %w", err)
	}
	return true, status.State == svc.Running, nil
}

// Run runs a program as the service that it was started as, and reports whether it was.
func Run(name string, run func(ctx context.Context) int) (code int, was bool) {
	if as, err := svc.IsWindowsService(); err != nil || !as {
		return 0, false
	}
	h := &handler{run: run}
	if err := svc.Run(name, h); err != nil && h.code == 0 {
		h.code = 1
	}
	return h.code, true
}

// handler is the program between its start and the request to stop.
type handler struct {
	run  func(ctx context.Context) int
	code int
}

// Execute implements svc.Handler.
func (h *handler) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.StartPending}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- h.run(ctx) }()
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for {
		select {
		case h.code = <-ended:
			return false, uint32(h.code) //nolint:gosec // a program's code
		case r := <-requests:
			switch r.Cmd {
			case svc.Interrogate:
				status <- r.CurrentStatus
			case svc.Stop, svc.Shutdown:
				status <- svc.Status{State: svc.StopPending, WaitHint: uint32(patience / time.Millisecond)}
				cancel()
			}
		}
	}
}
