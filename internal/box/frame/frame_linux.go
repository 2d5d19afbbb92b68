package frame

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Most is the longest message: the kernel's own limit on arguments is half of it.
const Most = 16 << 20

// mostFiles is how many files one message may bring.
const mostFiles = 4

// Send writes one message. Whoever sends from several places holds a lock meanwhile.
func Send(conn *net.UnixConn, body []byte, files ...*os.File) error {
	if len(body) > Most || len(files) > mostFiles {
		return fmt.Errorf("write message: %d bytes and %d files are too many", len(body), len(files))
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body))) // bounded above
	if _, _, err := conn.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err := conn.Write(body)
	return err
}

// Receive reads one message. The files are the caller's to close, also where there is an error.
func Receive(conn *net.UnixConn) ([]byte, []*os.File, error) {
	head, oob := make([]byte, 4), make([]byte, unix.CmsgSpace(mostFiles*4))
	n, got, _, _, err := conn.ReadMsgUnix(head, oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, nil, err
	}
	files, err := received(oob[:got])
	if err != nil {
		return nil, files, err
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return nil, files, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > Most {
		return nil, files, fmt.Errorf("read message: %d bytes are too many", size)
	}
	body := make([]byte, size)
	_, err = io.ReadFull(conn, body)
	return body, files, err
}

// received are the files that came with a message, kept from every program that is started but the one they are for.
func received(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	var files []*os.File
	for i := range parts {
		fds, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			return files, fmt.Errorf("read files: %w", err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "handed"))
		}
	}
	return files, nil
}
